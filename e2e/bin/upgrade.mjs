#!/usr/bin/env node
// npm run upgrade [-- <commit>]: the previous release serves customers during and after this
// release's migrations.
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
const { main } = await import("../dist/upgrade/main.js");
process.exit(await main(process.argv[2]));
