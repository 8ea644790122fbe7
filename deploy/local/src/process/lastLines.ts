import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const TAIL_BYTES = 64 * 1024;

/**
 * Returns the last non-empty lines of a file, at most `count`. Reads only the last 64 KiB. Returns no
 * line if the file cannot be opened.
 */
export function lastLines(file: string, count: number): string[] {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(descriptor);
    const length = Math.min(size, TAIL_BYTES);
    const buffer = Buffer.alloc(length);
    readSync(descriptor, buffer, 0, length, size - length);
    const lines = buffer.toString("utf8").split("\n");
    return lines.filter((line) => line.trim() !== "").slice(-count);
  } finally {
    closeSync(descriptor);
  }
}
