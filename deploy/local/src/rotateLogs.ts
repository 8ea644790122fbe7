import { copyFileSync, mkdirSync, readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { createRetryingTask } from "./process/retryingTask";

const MAX_BYTES = 20 * 1024 * 1024;
const EVERY_MS = 5_000;

export interface LogRotation {
  logsDir: string;
  maxBytes?: number;
  onTrouble: (message: string) => void;
}

/**
 * Keeps each log and its predecessor below a limit. Writers hold the file open for appending, so it
 * is copied and emptied.
 */
export function startLogRotation(rotation: LogRotation): { close(): void } {
  const timer = setInterval(logRotation(rotation), EVERY_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

/** Rotates files independently: an error with one does not stop the others. */
export function logRotation({ logsDir, maxBytes = MAX_BYTES, onTrouble }: LogRotation): () => void {
  const attempt = createRetryingTask(onTrouble);
  return () =>
    attempt(`The logs in ${logsDir} cannot be looked at`, () => {
      for (const file of logsIn(logsDir)) {
        attempt(`${file} cannot be rotated`, () => rotate(file, maxBytes));
      }
    });
}

/**
 * Recreates a deleted log folder, so that logging continues; but not when the whole home is gone.
 */
function logsIn(logsDir: string): string[] {
  try {
    mkdirSync(logsDir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const names = readdirSync(logsDir).filter((name) => name.endsWith(".log"));
  return names.map((name) => join(logsDir, name));
}

function rotate(file: string, maxBytes: number): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= maxBytes) return;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
}
