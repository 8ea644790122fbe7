#!/usr/bin/env node
// Operators run this in the pod of the service with dead letters; see
// src/admin/deadLettersCommand.ts.
import { runBuilt } from "./runBuilt.mjs";

await runBuilt(new URL("../dist/admin/deadLettersCommand.js", import.meta.url));
