#!/usr/bin/env node
// npm run torture:bugs [-- --only TEXT --seeds 1,2,3 --sizes 500x4,5000x20]
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
const { main } = await import("../dist/torture/bugs/main.js");
process.exit(await main());
