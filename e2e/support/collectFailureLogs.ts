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
 * Errors from a stack's logs, for the report of a failed test, because the stack is deleted then.
 * Includes causes of refusals and errors of ended processes, without messages about an unreachable
 * bus.
 */
export function collectFailureLogs({ home, output }: Pick<TestStack, "home" | "output">): string[] {
  const lines = readdirSync(home.logsDir)
    .flatMap((file) => readFileSync(join(home.logsDir, file), "utf8").split("\n"))
    .filter((line) => line.startsWith("{") && line.endsWith("}") && explainsFailure(JSON.parse(line) as Line))
    .sort((a, b) => timeOf(a).localeCompare(timeOf(b)));
  return [...output().split("\n").slice(-LAST), ...lines.slice(-LAST)];
}

function explainsFailure({ level, cause }: Line): boolean {
  return cause !== undefined || level === "fatal";
}

function timeOf(line: string): string {
  return (JSON.parse(line) as Line).time;
}
