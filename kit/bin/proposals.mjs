#!/usr/bin/env node
// Operators run this in the pod of the service that keeps the proposal; see
// src/command/proposalCommands.ts.
import { runBuilt } from "./runBuilt.mjs";

await runBuilt(new URL("../dist/command/proposalCommands.js", import.meta.url));
