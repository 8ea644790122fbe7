import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceBetween } from "../docs/replaceBetween";
import { readText, ROOT } from "../ops/repository";
import { readMutants, scoreOf } from "./mutants";
import { renderResults } from "./renderMutation";

const SERVICES = ["auth", "wallet", "ledger", "payment", "chain-relayer", "events"];
const PAGE = "docs/evidence/mutation.md";
const MARK = "npm run mutation writes from here";
const LOWEST_SCORE = 0.85;

/**
 * Runs the mutation tests of the named services, and writes the results of all services that ran
 * here to the page. Returns the exit code: 1 below 85 %.
 */
export function main(args = process.argv.slice(2)): number {
  const unknown = args.filter((name) => !SERVICES.includes(name));
  if (unknown.length > 0) throw new Error(`There is no service ${unknown.join(", ")}.`);
  for (const service of args.length > 0 ? args : SERVICES) runStryker(service);
  const results = SERVICES.flatMap((service) => {
    const report = join(ROOT, ".cache/mutation", `${service}.json`);
    return existsSync(report) ? [{ service, mutants: readMutants(readFileSync(report, "utf8")) }] : [];
  });
  writeFileSync(join(ROOT, PAGE), replaceBetween(readText(PAGE), MARK, renderResults(results)));
  const score = scoreOf(results.flatMap(({ mutants }) => mutants));
  process.stdout.write(`${(score * 100).toFixed(1)} % killed: ${PAGE}\n`);
  return score >= LOWEST_SCORE ? 0 : 1;
}

function runStryker(service: string): void {
  process.stdout.write(`\n── ${service}\n`);
  const stryker = join(ROOT, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const { status } = spawnSync(process.execPath, [stryker, "run", "e2e/mutation/stryker.config.mjs"], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, MUTATED_SERVICE: service },
  });
  if (status !== 0) throw new Error(`Stryker failed for ${service}`);
}
