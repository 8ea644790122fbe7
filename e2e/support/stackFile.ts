import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Stack } from "@wonrail/local/stackFile";

/** The running stack's description. */
export function readStack(home = process.env.WONRAIL_HOME ?? ".wonrail"): Stack {
  try {
    return JSON.parse(readFileSync(join(home, "stack.json"), "utf8")) as Stack;
  } catch {
    throw new Error(`There is no running stack in ${home}. Start one with: make up`);
  }
}
