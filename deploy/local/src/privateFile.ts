import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Writes atomically, readable for the owner only. */
export function writePrivate(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, text, { mode: 0o600, flag: "wx" });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, file);
}

export function writePrivateJson(file: string, value: unknown): void {
  writePrivate(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** undefined when there is no such file. */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
