#!/usr/bin/env node
import { compile, exitOnFailure } from "./prepare.mjs";

exitOnFailure(compile);
