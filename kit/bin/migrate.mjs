#!/usr/bin/env node
// Images run this before their service; configured by environment, see src/migrate/config.ts.
import { createRequire } from "node:module";

await createRequire(import.meta.url)("../dist/migrate/command.js").main();
