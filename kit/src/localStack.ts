import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * The part of a running stack that operators' commands use; deploy/local/src/stackFile.ts has
 * all of it.
 */
export interface LocalStack {
  consoleUrl?: string;
  postgres?: { urls?: Record<string, string> };
  services?: Record<string, { grpc?: string }>;
  /** Files with the certificate of operators' commands. Absent without mutual TLS. */
  cli?: { cert?: string; key?: string; ca?: string };
}

/**
 * Folder of the stack: WONRAIL_HOME, or beside the repository's package.json, from src and dist
 * alike.
 */
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
