#!/usr/bin/env node
import { build, orExit } from "./prepare.mjs";

orExit(build);
