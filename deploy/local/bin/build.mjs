#!/usr/bin/env node
import { compile, orExit } from "./prepare.mjs";

orExit(compile);
