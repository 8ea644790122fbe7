import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, readText } from "../ops/repository";
import { type Figures } from "./figures";

/** The figures of one part of the evidence, as its last run stored them. */
export interface Result<Part extends keyof Figures> {
  /** The command that makes the figures again. */
  command: string;
  /** The day of the run. */
  date: string;
  seconds: number;
  figures: Figures[Part];
}

export function storeResult<Part extends keyof Figures>(
  part: Part,
  result: Omit<Result<Part>, "date">,
): void {
  const file = join(ROOT, pathOf(part));
  const date = new Date().toISOString().slice(0, 10);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ date, ...result }, null, 2)}\n`);
}

/** Undefined: the part has not been run. */
export function readResult<Part extends keyof Figures>(part: Part): Result<Part> | undefined {
  const path = pathOf(part);
  return existsSync(join(ROOT, path)) ? (JSON.parse(readText(path)) as Result<Part>) : undefined;
}

function pathOf(part: string): string {
  return `docs/evidence/results/${part}.json`;
}
