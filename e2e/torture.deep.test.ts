import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingKafkaReason } from "./bus/ownServer";
import { reportSkipped } from "./support/reportSkipped";
import { run } from "./torture/run";
import { readKnownSeeds } from "./torture/seeds";
import { describeResult, isSound } from "./torture/result";

// The seeded fault harness with a new seed in each run. `make torture` runs more.
// WONRAIL_SEED=7 repeats a run.

jest.setTimeout(3_600_000);

const SEED = Number(process.env.WONRAIL_SEED ?? Date.now() % 1_000_000);
const SIZE = { operations: 20_000, faults: 40 };

const missing = missingKafkaReason();
if (missing !== undefined) reportSkipped(`the fault harness runs without Kafka, ${missing}`);

test.each([...new Set([...readKnownSeeds(), SEED])])(
  `${SIZE.operations} operations with ${SIZE.faults} faults end without a violation (seed %d)`,
  async (seed) => {
    const folder = mkdtempSync(join(tmpdir(), "wonrail-history-"));
    const lines: string[] = [];
    const report = (line: string): void => void lines.push(line);
    const result = await run({ ...SIZE, seed, folder, report, brokers: missing === undefined ? 1 : 0 });
    // The history stays for a failed run.
    if (!isSound(result)) throw new Error([...lines, describeResult(result)].join("\n"));
    rmSync(folder, { recursive: true });
  },
);
