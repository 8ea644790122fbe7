#!/usr/bin/env node
// A temporary EVM node for a test: prints its URL in one line, and ends when its standard input
// closes.
import { startAnvil } from "../tools/anvil.mjs";

const { url, stop } = await startAnvil();
console.log(url);
process.stdin.resume().once("end", () => void stop());
