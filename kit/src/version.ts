import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The release. All packages of the repository carry the same version. */
export const { version } = JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8")) as {
  version: string;
};
