import { type Address, readAddress } from "@wonrail/kit/contract/address";
import { DomainError } from "@wonrail/kit/contract/errors";
import { MAX_WON } from "@wonrail/kit/contract/money";
import {
  asMade,
  differingField,
  dueTimeOf,
  findTransferProblem,
  firstRun,
  LAST_CHECK_MS,
  nextCheckMs,
  readFields,
  readReason,
  realDueTime,
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
  const notes = { memo: "😀".repeat(200), reference: "r", metadata: { till: "5" } };
  const networks = { fromNetworkType: "BASE_2", toNetworkType: "N".repeat(40) };
  const given = { ...GIVEN, ...networks, ...notes, txHash: HASH, amount, fee: "0" };
  expect(readFields("INSTANT", given, NOW)).toEqual({
    ...{ paymentType: "INSTANT", fromNetwork: "BASE_2", toNetwork: "N".repeat(40), ...notes },
    ...{ fromAddress: ADDRESS, toAddress: ADDRESS, amount: BigInt(amount), fee: 0n },
    ...{ txHash: HASH.toLowerCase(), scheduledAt: null },
  });
});

test("reads a scheduled record without notes, fee and hash", () => {
  expect(readFields("SCHEDULED", { ...GIVEN, scheduledAt: LATER }, NOW)).toEqual({
    ...{ paymentType: "SCHEDULED", fromNetwork: "WON_TESTNET", toNetwork: "WON_TESTNET" },
    ...{ fromAddress: ADDRESS, toAddress: ADDRESS, amount: 1_000_000n, fee: null, txHash: null },
    ...{ memo: null, reference: null, metadata: {}, scheduledAt: LATER },
  });
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
  ["INSTANT", { txHash: HASH, fromNetworkType: "1WON" }, "fromNetworkType"],
  ["INSTANT", { txHash: HASH, toNetworkType: "WON TESTNET" }, "toNetworkType"],
  ["INSTANT", { txHash: HASH, toNetworkType: "N".repeat(41) }, "toNetworkType"],
  ["INSTANT", { txHash: HASH, toAddress: "0x1" }, "toAddress"],
  ["INSTANT", { txHash: HASH, amount: " 1" }, "amount"],
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
    details: { fields: [{ path, message: expect.stringMatching(/^(must|is|has|goes) /) }] },
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
  for (const end of ["fromNetwork", "toNetwork"])
    expect(firstRun({ ...instant, [end]: "WON_MAINNET" }, "WON_MAINNET")).toBe("UNATTENDED");
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
        else expect(refusal(ask)).toMatchObject({ code: "TX_003", details: { status } });
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
  const fields = [{ path: "scheduledAt", message: "must be in the future" }];
  expect(refusal(() => scheduleChanges(scheduledRecord({}), NOW, NOW)).details).toEqual({ fields });
});

test("a reason is allowed with FAILED only", () => {
  expect(readReason("FAILED", "because")).toBe("because");
  expect(readReason("CONFIRMED", undefined)).toBeNull();
  expect(readReason("FAILED", "😀".repeat(500))).toHaveLength(1_000);
});

test.each([
  ["CONFIRMED", "because", "goes with the status FAILED only"],
  ["FAILED", "x".repeat(501), "must have at most 500 characters"],
  ["FAILED", "a\0b", "must not contain a NUL"],
] as const)("for %s the reason %j is refused", (status, reason, message) => {
  const fields = [{ path: "failureReason", message }];
  expect(refusal(() => readReason(status, reason))).toMatchObject({ code: "REQ_001", details: { fields } });
});

test.each([
  [1_000_000n, { amountWon: 1n }],
  [0n, { problem: "amount_is_zero" }],
  [1_500_000n, { problem: "amount_is_not_whole_won" }],
  [MAX_WON * 1_000_000n, { amountWon: MAX_WON }],
  [(MAX_WON + 1n) * 1_000_000n, { problem: "amount_is_too_large" }],
])("%p units are transferred as %j", (units, expected) => {
  expect(transferableWon(units)).toEqual(expected);
});

test("the pause between look-ups grows from a second to a day, which the last pause has", () => {
  expect(nextCheckMs(0)).toBe(1_000);
  expect(nextCheckMs(600_000)).toBe(60_000);
  expect(nextCheckMs(LAST_CHECK_MS)).toBe(86_400_000);
});

test("a record as made is pending, with its first time and the hash that its partner named", () => {
  const now = { status: "CONFIRMED", failureReason: "late", run: "DONE", version: 4n, txHash: HASH } as const;
  const changed = { ...now, changedMetadata: { till: "5" }, updatedAt: LATER };
  const record = scheduledRecord(changed);
  const made = { status: "PENDING", failureReason: null, changedMetadata: null, version: 1n, updatedAt: NOW };
  expect(asMade(record, { scheduledAt: NOW, version: 1n })).toEqual({
    ...{ ...record, ...made, scheduledAt: NOW, txHash: null },
  });
  const instant = scheduledRecord({ ...changed, paymentType: "INSTANT" });
  expect(asMade(instant, { scheduledAt: null, version: 1n })).toMatchObject({ ...made, txHash: HASH });
});

test("a clock that is ahead makes a record due earlier, but not before its creation", () => {
  const [minuteMs, hourMs] = [60_000, 3_600_000];
  expect(realDueTime(LATER, NOW, 0)).toBeNull();
  expect(realDueTime(null, NOW, minuteMs)).toBeNull();
  expect(realDueTime(LATER, NOW, 1_000)).toEqual(new Date(LATER.getTime() - 1_000));
  expect(realDueTime(LATER, NOW, hourMs)).toEqual(NOW);
  expect(dueTimeOf({ dueAt: null, scheduledAt: LATER })).toEqual(LATER);
  expect(dueTimeOf({ dueAt: NOW, scheduledAt: LATER })).toEqual(NOW);
});

const ZERO = `0x${"0".repeat(40)}`;
const TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const [SENDER, RECEIVER] = ["1", "2"].map((digit) => readAddress(`0x${digit.repeat(40)}`)!) as [
  Address,
  Address,
];

test("a record differs from its transaction in the first field that no transfer has", () => {
  const record = { fromAddress: SENDER, toAddress: RECEIVER, amount: 5n };
  const transfer = (from: string, to: string, units: bigint) => ({ from, to, units });
  const [from, to] = [SENDER, RECEIVER];
  expect(differingField(record, [])).toBe("token");
  expect(differingField(record, [transfer(to, to, 5n)])).toBe("fromAddress");
  expect(differingField(record, [transfer(from, from, 5n), transfer(to, to, 5n)])).toBe("toAddress");
  expect(differingField(record, [transfer(from, to, 4n), transfer(to, to, 5n)])).toBe("amount");
  expect(differingField(record, [transfer(from, to, 4n), transfer(from, to, 5n)])).toBeNull();
});

test.each([
  [{}, []],
  [{ toAddress: ZERO }, ["toAddress"]],
  [{ toAddress: TOKEN }, ["toAddress"]],
  [{ toAddress: TOKEN.toLowerCase() }, ["toAddress"]],
  [{ toAddress: SENDER }, ["toAddress"]],
  [{ amount: 1n }, ["amount"]],
  [{ toAddress: ZERO, amount: 0n }, ["toAddress", "amount"]],
] as [object, string[]][])(
  "a transfer is refused for each field that makes it impossible (%#)",
  (change, paths) => {
    const transfer = { fromAddress: SENDER, toAddress: RECEIVER, amount: 1_000_000n, ...change };
    expect(findTransferProblem(transfer, [TOKEN])).toEqual(
      paths.map((path) => ({ path, message: expect.stringMatching(/^must /) })),
    );
  },
);

test("a refused amount names the smallest and the largest one in units of the token", () => {
  const [problem] = findTransferProblem({ fromAddress: SENDER, toAddress: RECEIVER, amount: 1n }, []);
  expect(problem!.message).toMatch(/: a multiple of 1000000, from that to 9007199254740991000000$/);
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
