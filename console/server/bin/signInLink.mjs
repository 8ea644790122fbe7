#!/usr/bin/env node
// Creates a one-time link for signing in to a console without an identity provider.
import { runBuilt } from "@wonrail/kit/runBuilt";

await runBuilt(new URL("../dist/signInLink.js", import.meta.url));
