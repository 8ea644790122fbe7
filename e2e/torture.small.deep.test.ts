import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingKafkaReason } from "./bus/ownServer";
import { reportSkipped } from "./support/reportSkipped";
import { describeRun } from "./torture/checker";
import { describeResult, isSound } from "./torture/result";
import { run } from "./torture/run";

// The fault harness in its smallest size, with a fixed seed. `make faults` and `make torture` run
// more operations with other seeds.

jest.setTimeout(900_000);

const SIZE = { seed: 1, operations: 2_000, faults: 8, speed: 2 };

const missing = missingKafkaReason();
if (missing !== undefined) reportSkipped(`the fault harness runs without Kafka, ${missing}`);

test(`${SIZE.operations} operations with ${SIZE.faults} faults end without a violation, and so says a replay`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-history-"));
  const lines: string[] = [];
  const report = (line: string): void => void lines.push(line);
  const result = await run({ ...SIZE, folder, report, brokers: missing === undefined ? 1 : 0 });
  // The history stays for a failed run.
  if (!isSound(result)) throw new Error([...lines, describeResult(result)].join("\n"));
  // The world is down: the files alone decide.
  expect(await describeRun(result.historyFile)).toEqual({ violations: [], text: "" });
  rmSync(folder, { recursive: true });
});
