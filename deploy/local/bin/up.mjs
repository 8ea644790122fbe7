#!/usr/bin/env node
import { exitOnFailure, prepare } from "./prepare.mjs";

const preparation = exitOnFailure(prepare);
const { up } = await import("../dist/commands/up.js");
process.exit(await up(process.argv.slice(2), preparation));
