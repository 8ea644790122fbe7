// npm run bench -- chain [--quick] [--only curve,gas,backlog] [--operations N]
import { parseArgs } from "node:util";
import { line, machine, type Result, table, writeJson } from "../report";
import { backlogSection } from "./backlog";
import { curveSection } from "./curve";
import { gasSection } from "./gas";

const SECTIONS = ["curve", "gas", "backlog"];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: "boolean" }, only: { type: "string" }, operations: { type: "string" } },
  });
  const only = values.only?.split(",") ?? SECTIONS;
  const operations = Number(values.operations ?? (values.quick ? 5_000 : 50_000));
  process.stdout.write(`${machine()}\n`);
  const results: Result[] = [];
  const say = (more: Result[]): void => {
    for (const result of more) process.stdout.write(`${line(result)}\n`);
    results.push(...more);
  };
  if (only.includes("curve")) say(curveSection(values.quick ? 500 : 3_000));
  if (only.includes("gas")) say(gasSection());
  if (only.includes("backlog")) say(await backlogSection(operations));
  process.stdout.write(`\n${table(results)}\n\n${writeJson("chain", results)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
