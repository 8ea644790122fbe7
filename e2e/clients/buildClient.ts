import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./cacheFolder";
import { run, type RunOptions } from "./run";

export const DOCUMENT = join(__dirname, "../../gateway/openapi.json");
export const PLAY = join(__dirname, "play");

/**
 * Builds a client into a folder and returns the folder. The folder is kept until the document, the
 * program or another input changes. It is renamed when complete, so that concurrent runs do not
 * disturb each other.
 */
export function buildOnce(name: string, inputs: string[], build: (folder: string) => void): string {
  const folder = cacheFolder(name, ...[DOCUMENT, ...inputs].map((path) => readFileSync(path, "utf8")));
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  try {
    build(unfinished);
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Runs a program and returns its output. Throws the output when the program fails. */
export function mustRun(program: string, args: string[], options: RunOptions = {}): string {
  const { ok, output } = run(program, args, options);
  if (!ok) throw new Error(`${program} ${args.join(" ").slice(0, 200)}\n${output.slice(-4_000)}`);
  return output;
}
