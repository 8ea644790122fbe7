import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingHaReason } from "@wonrail/local/ha/programs";
import { reportSkipped } from "../support/reportSkipped";
import { HA_FAULTS } from "../torture/nemesis/kinds/highAvailability";
import { describeResult, isSound } from "../torture/result";
import { run } from "../torture/run";

// The whole system on three PostgreSQL servers. Each fault of such a set happens once, and the
// checker searches every acknowledged operation afterwards. WONRAIL_SEED=7 repeats a run.

jest.setTimeout(3_600_000);

const SEED = Number(process.env.WONRAIL_SEED ?? Date.now() % 1_000_000);
const KINDS = [...HA_FAULTS.map(({ name }) => name), "postgres-killed"];
const SIZE = { operations: 4_000, faults: KINDS.length, kinds: KINDS };

const missing = missingHaReason();
if (missing !== undefined) reportSkipped(`PostgreSQL does not fail over: ${missing}`);

(missing === undefined ? test : test.skip)(
  `each fault of a PostgreSQL set loses nothing and restarts no service (seed ${SEED})`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "wonrail-history-"));
    const lines: string[] = [];
    const report = (line: string): void => void lines.push(line);
    const result = await run({ ...SIZE, seed: SEED, folder, report, brokers: 0, ha: true });
    const description = describeResult(result);
    // The history stays for a failed run.
    if (!isSound(result) || result.crashes.length > 0) throw new Error([...lines, description].join("\n"));
    process.stdout.write(`${description}\n`);
    rmSync(folder, { recursive: true });
  },
);
