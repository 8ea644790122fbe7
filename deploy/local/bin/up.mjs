#!/usr/bin/env node
import { orExit, prepare } from "./prepare.mjs";

const preparation = orExit(prepare);
const { up } = await import("../dist/commands/up.js");
process.exit(await up(process.argv.slice(2), preparation));
