import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { transformSync } from "@swc/core";
import { plantChanges } from "@wonrail/kit/testing/plantChanges";
import { ROOT } from "../../ops/repository";
import { type PlantedBug } from "./bugs";

/** Workspaces that run from the copy, by their folders. Other packages run from the repository. */
export const COPIED: Record<string, string> = {
  ...{ "services/auth": "auth", "services/wallet": "wallet", "services/ledger": "ledger" },
  ...{ "services/payment": "payment", "services/events": "events" },
  ...{ "services/chain-relayer": "chain-relayer", "console/server": "console", gateway: "gateway" },
  ...{ "deploy/local": "local", e2e: "e2e" },
};
const LEFT_OUT = ["node_modules", "src"];

export interface ScratchCopy {
  dir: string;
  /** Compiles the bug into the copy. The returned function takes it out again. */
  plant(bug: PlantedBug): () => void;
  remove(): void;
}

/**
 * Copies the compiled system into an ignored folder of the repository, where it finds the
 * repository's packages.
 */
export function createScratchCopy(): ScratchCopy {
  const parent = join(ROOT, ".cache");
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, "torture-bugs-"));
  const scope = join(dir, "node_modules/@wonrail");
  mkdirSync(scope, { recursive: true });
  for (const [folder, name] of Object.entries(COPIED)) {
    const [from, to] = [join(ROOT, folder), join(dir, folder)];
    cpSync(from, to, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) });
    const packages = join(from, "node_modules");
    if (existsSync(packages)) symlinkSync(packages, join(to, "node_modules"));
    symlinkSync(to, join(scope, name));
  }
  symlinkSync(join(ROOT, "contracts"), join(dir, "contracts"));
  // It marks the root of a repository.
  copyFileSync(join(ROOT, "package-lock.json"), join(dir, "package-lock.json"));
  return {
    dir,
    plant: (bug) => plant(dir, bug),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function plant(dir: string, { file, changes }: PlantedBug): () => void {
  const source = plantChanges(readFileSync(join(ROOT, file), "utf8"), file, changes);
  const compiled = file.replace("/src/", "/dist/").replace(/\.ts$/, ".js");
  const { code } = transformSync(source, {
    jsc: { target: "es2023", parser: { syntax: "typescript" } },
    module: { type: "commonjs" },
    filename: file,
  });
  const path = join(dir, compiled);
  if (!existsSync(dirname(path))) throw new Error(`${compiled} is not built`);
  writeFileSync(path, code);
  return () => copyFileSync(join(ROOT, compiled), path);
}
