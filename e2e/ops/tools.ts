import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A tool from the PATH, or from where deploy/kube/tools.sh builds them. */
export function findTool(name: string, suits: (path: string) => boolean = () => true): string | undefined {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const places = [...(process.env.PATH ?? "").split(":"), join(cache, "wonrail/bin")];
  return places.map((place) => join(place, name)).find((path) => existsSync(path) && suits(path));
}
