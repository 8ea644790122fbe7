import { closeSync, openSync, writeSync } from "node:fs";
import { type HistoryLine } from "./history";

type Untimed<Line> = Line extends HistoryLine ? Omit<Line, "at"> : never;

export interface HistoryWriter {
  file: string;
  /** Milliseconds since the run began. */
  now(): number;
  /** Returns after the line is in the file, so a call is written before it is sent. */
  write(line: Untimed<HistoryLine>): void;
  close(): void;
}

export function openHistory(file: string): HistoryWriter {
  const descriptor = openSync(file, "w", 0o600);
  const startedMs = performance.now();
  const now = (): number => Math.round((performance.now() - startedMs) * 1_000) / 1_000;
  return {
    file,
    now,
    write: ({ kind, ...rest }) =>
      void writeSync(descriptor, `${JSON.stringify({ kind, at: now(), ...rest })}\n`),
    close: () => closeSync(descriptor),
  };
}
