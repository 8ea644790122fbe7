import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingHaReason } from "@wonrail/local/ha/programs";
import { missingKafkaReason } from "../bus/ownServer";
import { describeRun } from "./checker";
import { type CliOptions, readOptions, USAGE } from "./options";
import { describeResult, findingsOf, isSound } from "./result";
import { run } from "./run";
import { type RunOptions } from "./runOptions";
import { readKnownSeeds } from "./seeds";
import { shrinkRun } from "./shrinkRun";

/** Runs the seeds one after the other. Returns the exit code. */
export async function main(args = process.argv.slice(2)): Promise<number> {
  if (args.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const missing = missingKafkaReason();
  const options = readOptions(args, {
    defaultBrokers: missing === undefined ? 1 : 0,
    knownSeeds: readKnownSeeds(),
    nowMs: Date.now(),
  });
  if (options.replay !== undefined) return replay(options.replay);
  const missingHa = options.ha ? missingHaReason() : undefined;
  if (missingHa !== undefined) {
    process.stderr.write(`skipped: ${missingHa}\n`);
    return 1;
  }
  if (missing !== undefined) process.stdout.write(`without Kafka: ${missing}\n`);
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "wonrail-history-"));
  let failures = 0;
  for (const seed of options.seeds)
    if (!(await runSeed(options, seed, join(folder, String(seed))))) failures += 1;
  return failures === 0 ? 0 : 1;
}

async function replay(historyFile: string): Promise<number> {
  const { violations, text } = await describeRun(historyFile);
  process.stdout.write(`${text}${text === "" ? "" : "\n"}${violations.length} violations\n`);
  return violations.length === 0 ? 0 : 1;
}

/** True: the run found nothing wrong. */
async function runSeed({ shrink, ...given }: CliOptions, seed: number, folder: string): Promise<boolean> {
  const startedMs = performance.now();
  const report = (line: string): void => {
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    process.stdout.write(`${seconds.padStart(6)} s  ${line}\n`);
  };
  const options: RunOptions = { ...given, seed, folder, report };
  const result = await run(options);
  process.stdout.write(`${describeResult(result)}\n`);
  writeFileSync(join(folder, "result.json"), `${JSON.stringify({ findings: findingsOf(result) })}\n`);
  if (isSound(result)) return true;
  if (shrink > 0) process.stdout.write(`${await shrinkRun(options, result, shrink)}\n`);
  return false;
}
