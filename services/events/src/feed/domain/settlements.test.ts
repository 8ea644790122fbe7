import { type ObjectData, type ObjectState, type SettlementNews } from "./change";
import { objectOfRef, partOf, settledIn, settlementChange } from "./settlements";

const PENDING = { status: "PENDING", network: "WON_TESTNET", txHash: null, blockNumber: null };
const SENT = { status: "SUBMITTED", network: "WON_TESTNET", txHash: "0x5f", blockNumber: null };
const DONE = { status: "CONFIRMED", network: "WON_TESTNET", txHash: "0x5f", blockNumber: 129 };

function news(ledgerRef: string, of: Partial<SettlementNews> = {}): SettlementNews {
  return {
    ...{ orgId: "org_1", ledgerRef, sourceId: "evt_1", occurredAt: new Date(0), status: "CONFIRMED" },
    ...{ network: "WON_TESTNET", txHash: "0x5f", blockNumber: 129, failureReason: null },
    ...of,
  };
}

function state(data: ObjectData, failureReason: string | null = null): ObjectState {
  return { data, failureReason };
}

const apply = (before: ObjectState | undefined, after: SettlementNews) =>
  settlementChange(after, "object").apply(before);

const transfer = { transferId: "trf_1", status: "COMPLETED", settlement: PENDING, failureReason: null };
const charge = {
  chargeId: "chg_1",
  settlement: PENDING,
  cancellations: [{ cancelId: "ccl_1", settlement: PENDING }],
};
const payment = {
  ...{ paymentId: "pay_1", settlement: PENDING, cancellation: { cancelId: "pcl_1", settlement: PENDING } },
  refunds: [{ refundId: "prf_1", settlement: PENDING }],
};
const refund = { refundId: "rfd_1", settlement: PENDING };

test.each([
  ["SUBMITTED", []],
  ["CONFIRMED", ["settlement.confirmed"]],
  ["FAILED", ["settlement.failed"]],
] as const)("a settlement that is %s has the events %j", (status, types) => {
  const given = news("trf_1", { status });
  expect(settlementChange(given, "trf_1")).toMatchObject({
    ...{ orgId: "org_1", objectId: "trf_1", sourceId: "evt_1", occurredAt: new Date(0), types },
    settlement: given,
  });
});

test("a settlement of an unknown object changes nothing", () => {
  expect(apply(undefined, news("trf_1"))).toBeUndefined();
});

test.each([
  ["trf_1", transfer],
  ["chg_1", charge],
  ["ccl_1", charge],
  ["pay_1", payment],
  ["pcl_1", payment],
  ["prf_1", payment],
  ["rfd_1", refund],
])("the settlement of %s is in its part of the object, and in no other", (ledgerRef, data: ObjectData) => {
  const before = structuredClone(data);
  const after = apply(state(data), news(ledgerRef))!;
  expect(partOf(after.data, ledgerRef)!.settlement).toEqual(DONE);
  const others = ["trf_1", "chg_1", "ccl_1", "pay_1", "pcl_1", "prf_1", "rfd_1"].filter(
    (id) => id !== ledgerRef,
  );
  for (const id of others) expect(partOf(after.data, id)?.settlement ?? PENDING).toEqual(PENDING);
  expect(data).toEqual(before);
});

test("a settlement of no part leaves the object as it is", () => {
  expect(apply(state(charge), news("chg_2"))).toEqual(state(charge));
  expect(apply(state(charge), news("chg_2", { status: "SUBMITTED" }))).toEqual(state(charge));
  expect(apply(state({ walletId: "wal_1" }), news("wal_1"))).toEqual(state({ walletId: "wal_1" }));
});

test("a later end replaces an earlier end", () => {
  const failed = state({ ...transfer, settlement: { ...SENT, status: "FAILED" } });
  expect(apply(failed, news("trf_1"))!.data.settlement).toEqual(DONE);
});

test.each([
  ["CONFIRMED", true],
  ["FAILED", true],
  ["PENDING", false],
])("a submission after the state %s is ignored: %s", (status, isIgnored) => {
  const before = state({ ...transfer, settlement: { ...DONE, status } }, "blocked");
  const after = apply(before, news("trf_1", { ...SENT, status: "SUBMITTED" }))!;
  expect(after.data.settlement).toEqual(isIgnored ? { ...DONE, status } : SENT);
  expect(after.failureReason).toBe("blocked");
});

test("the reason of a failure is kept, and a failed transfer shows it", () => {
  const failed = state({ ...transfer, status: "FAILED" });
  const reason = { status: "FAILED", failureReason: "blocked" } as const;
  expect(apply(failed, news("trf_1", reason))).toMatchObject({
    ...{ failureReason: "blocked", data: { failureReason: "blocked" } },
  });
  // The failure of a transfer that the ledger has not ended yet.
  expect(apply(state(transfer), news("trf_1", reason))).toMatchObject({
    ...{ failureReason: "blocked", data: { failureReason: null } },
  });
  expect(apply({ ...failed, failureReason: "earlier" }, news("trf_1"))).toMatchObject({
    ...{ failureReason: "earlier", data: { failureReason: "earlier" } },
  });
  expect(apply({ ...failed, failureReason: "earlier" }, news("trf_2"))!.data.failureReason).toBeNull();
});

test("later entries see the settlements that the object shows", () => {
  const settled = settledIn(state({ ...charge, settlement: DONE }, "blocked"), "WON_TESTNET");
  expect(settled("chg_1")).toEqual({ ...DONE, blockNumber: 129n, failureReason: "blocked" });
  expect(settled("ccl_1")).toEqual({ ...PENDING, failureReason: "blocked" });
  expect(settled("chg_2")).toEqual({ ...PENDING, failureReason: null });
  expect(settledIn(undefined, "WON_TESTNET")("chg_1")).toEqual({ ...PENDING, failureReason: null });
});

test("a reference names its object, except for a cancellation or a refund of a payment", () => {
  expect(["trf_1", "chg_1", "rfd_1", "pay_1", "xccl_1"].map(objectOfRef)).toEqual([
    ...["trf_1", "chg_1", "rfd_1", "pay_1", "xccl_1"],
  ]);
  expect(["ccl_1", "pcl_1", "prf_1"].map(objectOfRef)).toEqual([undefined, undefined, undefined]);
});
