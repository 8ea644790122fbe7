import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingKafkaReason } from "./bus/ownServer";
import { reportSkipped } from "./support/reportSkipped";
import { describeResult, isSound } from "./torture/result";
import { run } from "./torture/run";

// The fault harness in its smallest size, with a fixed seed and short faults of each layer.
// The other runs have more operations and all kinds of faults.

jest.setTimeout(900_000);

const missing = missingKafkaReason();
if (missing !== undefined) reportSkipped(`the fault harness runs without Kafka, ${missing}`);

const KINDS = [
  ...["service-killed", "service-paused", "clock-stepped", "cut-gateway-service", "sessions-terminated"],
  ...[missing === undefined ? "messages-expired" : "link-slow", "chain-reorganised", "endpoint-lying"],
];
const SIZE = { seed: 13, operations: 2_000, faults: KINDS.length, speed: 2, kinds: KINDS };

test(`${SIZE.operations} operations with ${SIZE.faults} faults end without a violation`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-history-"));
  const lines: string[] = [];
  const report = (line: string): void => void lines.push(line);
  const result = await run({ ...SIZE, folder, report, brokers: missing === undefined ? 1 : 0 });
  // The history stays for a failed run.
  if (!isSound(result)) throw new Error([...lines, describeResult(result)].join("\n"));
  rmSync(folder, { recursive: true });
});
