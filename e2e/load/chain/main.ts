// npm run bench -- chain [--quick] [--only curve,gas,blocks,backlog,reconcile] [--operations N]
import { parseArgs } from "node:util";
import { line, machine, type Result, table, writeJson } from "../report";
import { backlogSection, blocksSection } from "./backlog";
import { curveSection } from "./curve";
import { gasSection } from "./gas";
import { reconcileSection } from "./reconcile";

const SECTIONS = ["curve", "gas", "blocks", "backlog", "reconcile"];

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
  const curve = curveSection(values.quick ? 500 : 3_000);
  const signRate = curve.find(({ name }) => name === "sign.rate")!.value;
  if (only.includes("curve")) say(curve);
  if (only.includes("gas")) say(gasSection());
  if (only.includes("blocks")) say(await blocksSection(values.quick ? 9_000 : 15_000));
  if (only.includes("backlog")) say(await backlogSection(operations, signRate));
  if (only.includes("reconcile")) say(await reconcileSection(values.quick ? 10_000 : 100_000));
  process.stdout.write(`\n${table(results)}\n\n${writeJson("chain", results)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
