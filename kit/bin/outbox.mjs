#!/usr/bin/env node
// What an operator runs in the pod of a service whose events the bus has lost; see src/outbox/outboxCommand.ts.
import { runBuilt } from "./runBuilt.mjs";

await runBuilt(new URL("../dist/outbox/outboxCommand.js", import.meta.url));
