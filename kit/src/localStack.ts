import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** What operators' commands take of the stack that `make up` runs; deploy/local/src/stackFile.ts has all of it. */
export interface LocalStack {
  postgres?: { urls?: Record<string, string> };
  chain?: { rpcUrl?: string; chainId?: number };
}

/** Where the stack is: the folder that WONRAIL_HOME names, or beside the repository's package.json, from src as from dist. */
export function localHome(given: string | undefined): string {
  return resolve(given ?? join(__dirname, "..", "..", ".wonrail"));
}

export function stackFileIn(home: string): string {
  return join(home, "stack.json");
}

/** Undefined where none was started. */
export function readLocalStack(home: string): LocalStack | undefined {
  try {
    return JSON.parse(readFileSync(stackFileIn(home), "utf8")) as LocalStack;
  } catch {
    return undefined;
  }
}
