import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";

/** A folder for files that every run with the same inputs uses again. */
export function cacheFolder(name: string, ...inputs: string[]): string {
  const hash = createHash("sha256").update(inputs.join("\0")).digest("hex").slice(0, 12);
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  return join(cache, "wonrail", `${name}-${hash}`);
}
