import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestStack } from "./startStack";

const LAST = 30;

interface Line {
  time: string;
  level: string;
  cause?: string;
}

/**
 * What a stack's parts said of what they could not do, for whoever reads of a failed test: the stack is gone by then, and its logs with it. A refusal has its
 * cause, a process that ended its error; a bus that is not reached is what some tests are about, and would fill the page.
 */
export function whyFailed({ home, output }: Pick<TestStack, "home" | "output">): string[] {
  const said = readdirSync(home.logsDir)
    .flatMap((file) => readFileSync(join(home.logsDir, file), "utf8").split("\n"))
    .filter((line) => line.startsWith("{") && line.endsWith("}") && isTelling(JSON.parse(line) as Line))
    .sort((a, b) => timeOf(a).localeCompare(timeOf(b)));
  return [...output().split("\n").slice(-LAST), ...said.slice(-LAST)];
}

function isTelling({ level, cause }: Line): boolean {
  return cause !== undefined || level === "fatal";
}

function timeOf(line: string): string {
  return (JSON.parse(line) as Line).time;
}
