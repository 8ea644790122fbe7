#!/usr/bin/env node
// What an operator runs in the pod of a service whose events the bus has lost; see src/outbox/outboxCommand.ts.
import { createRequire } from "node:module";

const { main } = createRequire(import.meta.url)("../dist/outbox/outboxCommand.js");
process.exitCode = await main(process.argv.slice(2));
