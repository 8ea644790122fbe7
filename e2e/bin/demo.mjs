#!/usr/bin/env node
import { orExit, prepare } from "../../deploy/local/bin/prepare.mjs";

orExit(prepare);
const { main } = await import("../dist/demo/main.js");
process.exit(await main());
