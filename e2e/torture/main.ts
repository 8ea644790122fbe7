import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingKafkaReason } from "../bus/ownServer";
import { readOptions, USAGE } from "./options";
import { run } from "./run";
import { readKnownSeeds } from "./seeds";
import { describeResult, isSound } from "./result";

/** Runs the seeds one after the other. Returns the exit code. */
export async function main(args = process.argv.slice(2)): Promise<number> {
  if (args.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const missing = missingKafkaReason();
  if (missing !== undefined) process.stdout.write(`without Kafka: ${missing}\n`);
  const defaults = {
    defaultBrokers: missing === undefined ? 1 : 0,
    knownSeeds: readKnownSeeds(),
    nowMs: Date.now(),
  };
  const {
    seeds,
    folder = mkdtempSync(join(tmpdir(), "wonrail-history-")),
    ...options
  } = readOptions(args, defaults);
  let failures = 0;
  for (const seed of seeds) {
    const startedMs = performance.now();
    const report = (line: string): void => {
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      process.stdout.write(`${seconds.padStart(6)} s  ${line}\n`);
    };
    const result = await run({ ...options, seed, folder: join(folder, String(seed)), report });
    process.stdout.write(`${describeResult(result)}\n`);
    if (!isSound(result)) failures += 1;
  }
  return failures === 0 ? 0 : 1;
}
