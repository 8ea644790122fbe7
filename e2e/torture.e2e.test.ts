import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingKafkaReason } from "./bus/ownServer";
import { reportSkipped } from "./support/reportSkipped";
import { run } from "./torture/run";
import { readKnownSeeds } from "./torture/seeds";
import { describeResult, isSound } from "./torture/result";

// The seeded fault harness in a small size and with a fixed seed, so that a failure belongs to the
// change under test. `make faults` runs ten times as much with a new seed, and `make torture` more.
// WONRAIL_SEED=7 repeats a run.

jest.setTimeout(3_600_000);

const FIXED_SEED = 31;
const IS_DEEP = process.env.WONRAIL_DEEP !== undefined;
const SEED = Number(process.env.WONRAIL_SEED ?? (IS_DEEP ? Date.now() % 1_000_000 : FIXED_SEED));
const SIZE = IS_DEEP ? { operations: 20_000, faults: 40 } : { operations: 2_000, faults: 8 };

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
