import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceBetween } from "../docs/replaceBetween";
import { readText, ROOT } from "../ops/repository";
import { readMutants } from "./mutants";
import { readResult, renderResults, resultOf, scoreOf, type ServiceResult } from "./renderMutation";

const SERVICES = ["auth", "wallet", "ledger", "payment", "chain-relayer", "events"];
const PAGE = "docs/evidence/mutation.md";
const MARK = "npm run mutation writes from here";
const LOWEST_SCORE = 0.85;

/**
 * Runs the mutation tests of the named services, and writes their results to the page. The page
 * keeps the results of the other services. Returns the exit code: 1 below 85 %.
 */
export function main(args = process.argv.slice(2)): number {
  const unknown = args.filter((name) => !SERVICES.includes(name));
  if (unknown.length > 0) throw new Error(`There is no service ${unknown.join(", ")}.`);
  const fresh = (args.length > 0 ? args : SERVICES).map(runStryker);
  const page = readText(PAGE);
  const results = SERVICES.flatMap(
    (name) => fresh.find(({ service }) => service === name) ?? readResult(page, name) ?? [],
  );
  writeFileSync(join(ROOT, PAGE), replaceBetween(page, MARK, renderResults(results)));
  const score = scoreOf(results);
  process.stdout.write(`${(score * 100).toFixed(1)} % killed: ${PAGE}\n`);
  return score >= LOWEST_SCORE ? 0 : 1;
}

function runStryker(service: string): ServiceResult {
  process.stdout.write(`\n── ${service}\n`);
  const stryker = join(ROOT, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const { status } = spawnSync(process.execPath, [stryker, "run", "e2e/mutation/stryker.config.mjs"], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, MUTATED_SERVICE: service },
  });
  if (status !== 0) throw new Error(`Stryker failed for ${service}`);
  const report = readFileSync(join(ROOT, `.cache/mutation/${service}.json`), "utf8");
  return resultOf(service, readMutants(report));
}
