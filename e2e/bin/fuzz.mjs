#!/usr/bin/env node
// npm run fuzz [-- --cases N --seed N --only rest,grpc]
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
const { main } = await import("../dist/fuzz/main.js");
process.exit(await main());
