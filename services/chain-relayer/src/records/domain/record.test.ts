import { DomainError } from "@wonrail/kit/contract/errors";
import {
  firstRun,
  nextCheckMs,
  readFields,
  readReason,
  type RecordStatus,
  type Run,
  scheduleChanges,
  statusChanges,
  transferableWon,
  type TransactionRecord,
} from "./record";

const NOW = new Date("2026-03-01T00:00:00Z");
const LATER = new Date("2026-03-01T00:01:00Z");
const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";
const GIVEN = {
  fromNetworkType: "WON_TESTNET",
  toNetworkType: "WON_TESTNET",
  fromAddress: ADDRESS,
  toAddress: ADDRESS.toLowerCase(),
  amount: "1000000",
};
const HASH = `0x${"aB".repeat(32)}`;

test("reads an instant record with a lower-case hash, checksummed addresses and exact amounts", () => {
  const amount = "9".repeat(78);
  const read = readFields("INSTANT", { ...GIVEN, txHash: HASH, amount, fee: "0" }, NOW);
  expect(read).toMatchObject({ txHash: HASH.toLowerCase(), toAddress: ADDRESS, fee: 0n, memo: null });
  expect(read.amount.toString()).toBe(amount);
});

test("reads a scheduled record", () => {
  const read = readFields("SCHEDULED", { ...GIVEN, scheduledAt: LATER, memo: "😀".repeat(200) }, NOW);
  expect(read).toMatchObject({ txHash: null, scheduledAt: LATER });
});

test.each([
  ["INSTANT", {}, "txHash"],
  ["INSTANT", { txHash: "0x12" }, "txHash"],
  ["INSTANT", { txHash: HASH, scheduledAt: LATER }, "scheduledAt"],
  ["INSTANT", { txHash: HASH, amount: "1.0" }, "amount"],
  ["INSTANT", { txHash: HASH, amount: "-1" }, "amount"],
  ["INSTANT", { txHash: HASH, amount: "01" }, "amount"],
  ["INSTANT", { txHash: HASH, amount: "1".repeat(79) }, "amount"],
  ["INSTANT", { txHash: HASH, fee: "1e3" }, "fee"],
  ["INSTANT", { txHash: HASH, fromNetworkType: "won" }, "fromNetworkType"],
  ["INSTANT", { txHash: HASH, fromAddress: ADDRESS.replace("E0F", "e0F") }, "fromAddress"],
  ["INSTANT", { txHash: HASH, memo: "x".repeat(201) }, "memo"],
  ["INSTANT", { txHash: HASH, memo: "a\0b" }, "memo"],
  ["SCHEDULED", {}, "scheduledAt"],
  ["SCHEDULED", { scheduledAt: NOW }, "scheduledAt"],
  ["SCHEDULED", { scheduledAt: LATER, txHash: HASH }, "txHash"],
  ["SCHEDULED", { scheduledAt: LATER, toNetworkType: "BASE_SEPOLIA" }, "toNetworkType"],
] as const)("refuses %s with %j, naming %s", (paymentType, change, path) => {
  expect(refusal(() => readFields(paymentType, { ...GIVEN, ...change }, NOW))).toMatchObject({
    code: "REQ_001",
    details: { fields: [{ path }] },
  });
});

test("reports every wrong field at once", () => {
  const { details } = refusal(() => readFields("SCHEDULED", { ...GIVEN, amount: "x", fee: "y" }, NOW));
  expect(details).toMatchObject({ fields: [{ path: "amount" }, { path: "fee" }, { path: "scheduledAt" }] });
});

test("attends only to records of its own network", () => {
  const instant = readFields("INSTANT", { ...GIVEN, txHash: HASH }, NOW);
  const scheduled = readFields("SCHEDULED", { ...GIVEN, scheduledAt: LATER }, NOW);
  expect(firstRun(instant, "WON_TESTNET")).toBe("WATCHED");
  expect(firstRun(scheduled, "WON_TESTNET")).toBe("WAITING");
  expect(firstRun(instant, "WON_MAINNET")).toBe("UNATTENDED");
  expect(firstRun({ ...instant, fromNetwork: "WON_MAINNET" }, "WON_MAINNET")).toBe("UNATTENDED");
});

const STATUSES: RecordStatus[] = ["PENDING", "CONFIRMED", "FAILED"];
const PENDING_RUNS: Run[] = ["WATCHED", "WAITING", "STARTED", "SENT", "UNATTENDED"];

test("a status changes once from PENDING, by its owner only while no transfer has started", () => {
  for (const wanted of STATUSES) {
    for (const status of STATUSES) {
      for (const run of status === "PENDING" ? PENDING_RUNS : (["DONE"] as Run[])) {
        const free = status === "PENDING" && run !== "STARTED" && run !== "SENT";
        const ask = () => statusChanges({ status, run }, wanted);
        if (wanted === status) expect(ask()).toBe(false);
        else if (free) expect(ask()).toBe(true);
        else expect(refusal(ask).code).toBe("TX_003");
      }
    }
  }
});

test("a schedule changes only while SCHEDULED, PENDING and not started", () => {
  expect(scheduleChanges(scheduledRecord({}), new Date(LATER.getTime() + 1), NOW)).toBe(true);
  expect(scheduleChanges(scheduledRecord({}), LATER, NOW)).toBe(false);
  expect(scheduleChanges(scheduledRecord({ run: "UNATTENDED" }), new Date(LATER.getTime() + 1), NOW)).toBe(
    true,
  );
  for (const [reason, change] of [
    ["transfer_started", { run: "STARTED" }],
    ["transfer_started", { run: "SENT" }],
    ["not_pending", { status: "CONFIRMED", run: "DONE" }],
    ["not_scheduled", { paymentType: "INSTANT", scheduledAt: null }],
  ] as [string, Partial<TransactionRecord>][]) {
    const record = scheduledRecord(change);
    const later = new Date(LATER.getTime() + 1);
    const { code, details } = refusal(() => scheduleChanges(record, later, NOW));
    expect({ code, details }).toEqual({ code: "TX_004", details: { status: record.status, reason } });
    const again = () => scheduleChanges(record, LATER, NOW);
    if (record.paymentType === "SCHEDULED") expect(again()).toBe(false);
    else expect(refusal(again).code).toBe("TX_004");
  }
  expect(refusal(() => scheduleChanges(scheduledRecord({}), NOW, NOW)).code).toBe("REQ_001");
});

test("a reason is allowed with FAILED only", () => {
  expect(readReason("FAILED", "because")).toBe("because");
  expect(readReason("CONFIRMED", undefined)).toBeNull();
  expect(refusal(() => readReason("CONFIRMED", "because")).code).toBe("REQ_001");
  expect(refusal(() => readReason("FAILED", "x".repeat(501))).code).toBe("REQ_001");
});

test.each([
  [1_000_000n, { amountWon: 1n }],
  [0n, { problem: "amount_is_zero" }],
  [1_500_000n, { problem: "amount_is_not_whole_won" }],
  [10n ** 77n, { problem: "amount_is_too_large" }],
])("%p units are transferred as %j", (units, expected) => {
  expect(transferableWon(units)).toEqual(expected);
});

test("the pause between look-ups grows from a second to an hour", () => {
  expect(nextCheckMs(0)).toBe(1_000);
  expect(nextCheckMs(600_000)).toBe(60_000);
  expect(nextCheckMs(10 ** 9)).toBe(86_400_000);
});

function scheduledRecord(change: Partial<TransactionRecord>): TransactionRecord {
  const fields = readFields("SCHEDULED", { ...GIVEN, scheduledAt: LATER }, NOW);
  return {
    ...fields,
    orgId: "org",
    recordId: "txn",
    status: "PENDING",
    failureReason: null,
    changedMetadata: null,
    run: "WAITING",
    dueAt: null,
    transferId: null,
    attempts: 0,
    version: 1n,
    requestId: "",
    traceparent: "",
    createdAt: NOW,
    updatedAt: NOW,
    ...change,
  };
}

function refusal(work: () => unknown): DomainError {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error("was not refused");
}
