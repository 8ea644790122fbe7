#!/usr/bin/env node
import { command } from "./command.mjs";

await command("ha");
