#!/usr/bin/env node
// npm run upgrade [-- <commit>]: the release before this one serves customers while this one's migrations run, and goes on serving after them.
import { orExit, prepare } from "../../deploy/local/bin/prepare.mjs";

orExit(prepare);
const { main } = await import("../dist/upgrade/main.js");
process.exit(await main(process.argv[2]));
