#!/usr/bin/env node
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
const { main } = await import("../dist/demo/main.js");
process.exit(await main());
