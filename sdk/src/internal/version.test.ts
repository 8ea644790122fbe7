import { readFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "./version.ts";

test("the version is the package's, and its major number the specification's", () => {
  const manifest = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as {
    version: string;
  };
  expect(VERSION).toBe(manifest.version);
  expect(VERSION).toMatch(/^1\./);
});
