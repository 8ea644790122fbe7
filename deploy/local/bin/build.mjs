#!/usr/bin/env node
import { build, exitOnFailure } from "./prepare.mjs";

exitOnFailure(build);
