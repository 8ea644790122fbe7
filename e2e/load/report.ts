import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";

/** A line of a benchmark's table, and an element of its JSON. */
export interface Result {
  name: string;
  value: number;
  unit: string;
  /** "≥ 0.6"; absent for a figure without a goal. */
  goal?: string;
  met?: boolean;
  note?: string;
}

export function atLeast(name: string, value: number, unit: string, goal: number, note?: string): Result {
  return {
    name,
    value,
    unit,
    goal: `≥ ${goal}`,
    met: value >= goal,
    ...(note === undefined ? {} : { note }),
  };
}

export function atMost(name: string, value: number, unit: string, goal: number, note?: string): Result {
  return {
    name,
    value,
    unit,
    goal: `≤ ${goal}`,
    met: value <= goal,
    ...(note === undefined ? {} : { note }),
  };
}

export function observed(name: string, value: number, unit: string, note?: string): Result {
  return { name, value, unit, ...(note === undefined ? {} : { note }) };
}

export function machine(): string {
  const [first] = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  const [load = 0] = loadavg();
  const cores = `${availableParallelism()} cores (${first?.model.trim() ?? "unknown"})`;
  return `${cores}, ${memoryGiB} GiB, Node ${process.version}, load ${load.toFixed(1)} at the start`;
}

export function line({ name, value, unit, goal, met, note }: Result): string {
  const mark = met === undefined ? "" : met ? "met" : "NOT MET";
  return `| ${name} | ${readable(value)} ${unit} | ${goal ?? ""} | ${mark} | ${note ?? ""} |`;
}

export function table(results: Result[]): string {
  return ["| name | value | goal | | |", "|---|---|---|---|---|", ...results.map(line)].join("\n");
}

/** Stable location and names, because scripts read the file. */
export function writeJson(bench: string, results: Result[]): string {
  const dir = join(process.env.WONRAIL_HOME ?? join(__dirname, "../../.wonrail"), "bench");
  mkdirSync(dir, { recursive: true });
  const path = join(dir, `${bench}.json`);
  const rows = results.map(({ name, value, unit, goal = null, met = null }) => ({
    name,
    value,
    unit,
    goal,
    met,
  }));
  writeFileSync(path, `${JSON.stringify(rows, null, 2)}\n`);
  return path;
}

/** Replaces the bench's table in a page of the repository. */
export function writeTable(page: string, bench: string, where: string, results: Result[]): void {
  const path = join(__dirname, "../..", page);
  const text = `Last run: ${where}, ${new Date().toISOString().slice(0, 10)}.\n\n${table(results)}`;
  const between = new RegExp(`(<!-- bench: ${bench} -->\n)[^]*(<!-- /bench: ${bench} -->)`);
  const before = readFileSync(path, "utf8");
  if (!between.test(before)) throw new Error(`${page} has no place for the table of ${bench}`);
  writeFileSync(
    path,
    before.replace(between, (_, start, end) => `${start}\n${text}\n\n${end}`),
  );
}

function readable(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
}
