#!/usr/bin/env node
// Prints the address of the key in a file. With --create it first creates a missing file with a new
// key and mode 0600.
import { existsSync, writeFileSync } from "node:fs";
import { ethers } from "ethers";
import { UsageError, readKey, readOptions, run } from "../tools/chain.mjs";

const usage = `Usage: node bin/key.mjs FILE [--create]`;

await run(async () => {
  const { values, positionals } = readOptions(usage, [], { positionals: true, flags: ["create"] });
  if (positionals.length !== 1) throw new UsageError(usage);
  const [path] = positionals;
  if (values.create && !existsSync(path)) {
    writeFileSync(path, `${ethers.hexlify(ethers.randomBytes(32))}\n`, { mode: 0o600, flag: "wx" });
  }
  console.log(ethers.computeAddress(readKey(path)));
});
