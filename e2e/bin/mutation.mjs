#!/usr/bin/env node
// npm run mutation [-- ledger wallet]: mutation tests of the services' domain folders.
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
const { main } = await import("../dist/mutation/main.js");
process.exit(main());
