#!/usr/bin/env node
// What an image runs before its service; configured by environment, see src/migrate/config.ts.
import { createRequire } from "node:module";

await createRequire(import.meta.url)("../dist/migrate/command.js").main();
