import { copyFileSync, readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";

const MAX_BYTES = 20 * 1024 * 1024;
const EVERY_MS = 5_000;

/** Keeps each log, and the one before it, below a limit. Its writers hold the file open for appending, so it is copied and emptied. */
export function startLogRotation(logsDir: string, maxBytes = MAX_BYTES): { close(): void } {
  const timer = setInterval(() => rotateLogs(logsDir, maxBytes), EVERY_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

export function rotateLogs(logsDir: string, maxBytes: number): void {
  for (const name of readdirSync(logsDir).filter((file) => file.endsWith(".log"))) {
    const file = join(logsDir, name);
    if (statSync(file).size <= maxBytes) continue;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }
}
