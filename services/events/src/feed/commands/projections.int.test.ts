import { newId } from "@wonrail/kit/contract/ids";
import {
  chargeJson,
  chargeMessage,
  paymentJson,
  paymentMessage,
  payoutJson,
  pending,
  recordsOf,
} from "@wonrail/kit/records";
import {
  cancelChargeEntry,
  cancelPaymentEntry,
  chargeEntry,
  endHoldEntry,
  paymentEntry,
  placeHoldEntry,
  plainEntry,
  refundEntry,
  refundPaymentEntry,
  transferEntry,
} from "@wonrail/kit/records/testing/entries";
import {
  MetadataChanged,
  PayoutCompleted,
  PayoutCreated,
  PayoutProgressed,
} from "@wonrail/proto/payment/events/v1/events";
import { type Payout, PayoutMode, PayoutStatus } from "@wonrail/proto/payment/v1/payment";
import { Freeze, FreezeSource, IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { DepositCredited, RecordChanged, WalletBlockChanged } from "@wonrail/proto/relayer/events/v1/events";
import { PaymentType, RecordStatus } from "@wonrail/proto/relayer/v1/relayer";
import { WalletCreated, WalletDeactivated, WalletUpdated } from "@wonrail/proto/wallet/events/v1/events";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import {
  confirmed,
  failed,
  NETWORK,
  openWorld,
  received,
  submitted,
  TX_HASH,
  type World,
} from "../testing/world";

const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const settled = () => pending(NETWORK);
const CONFIRMED = { status: "CONFIRMED", network: NETWORK, txHash: TX_HASH, blockNumber: 129 };

let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

function parties() {
  const [payerWalletId, incentiveWalletId, receiverWalletId] = [newId("wal"), newId("wal"), newId("wal")];
  return { payerWalletId, incentiveWalletId, normalWalletId: payerWalletId, receiverWalletId };
}
const split = { incentiveWon: 100n, normalWon: 4_900n, accruedWon: 49n };

const metadataChanged = (objectId: string, version: bigint, metadata: Record<string, string>) => ({
  ...received("metadata_changed", "", objectId, MetadataChanged.encode({ objectId, metadata }).finish()),
  version,
});

test("a payout has an event when it is made, progresses and has ended, with its counts", async () => {
  const orgId = newId("org");
  const made: Payout = {
    ...{
      payoutId: newId("pyo"),
      fromWalletId: newId("wal"),
      totalAmountWon: "3000",
      rowCount: 2,
      dryRun: false,
    },
    ...{ acceptedCount: 0, refusedCount: 0, skippedCount: 0, acceptedAmountWon: "0", createdAt: new Date() },
    ...{ status: PayoutStatus.PENDING, mode: PayoutMode.BEST_EFFORT },
  };
  const ended = { acceptedCount: 1, refusedCount: 1, acceptedAmountWon: "1000", completedAt: new Date() };
  const completed = { ...made, ...ended, status: PayoutStatus.COMPLETED };
  const progressed = { ...made, acceptedCount: 1, acceptedAmountWon: "1000" };
  const { payoutId } = made;
  const project = (type: string, message: typeof PayoutCreated, payout: Payout) =>
    world.project("projectPayouts", [received(type, orgId, payoutId, message.encode({ payout }).finish())]);
  await project("payout_created", PayoutCreated, made);
  await project("payout_progressed", PayoutProgressed, progressed);
  await project("payout_completed", PayoutCompleted, completed);
  const { events } = await world.list(orgId);
  expect(events.map(({ type, objectId, objectSequence }) => [type, objectId, objectSequence])).toEqual([
    ["payout.created", payoutId, 1n],
    ["payout.progressed", payoutId, 2n],
    ["payout.completed", payoutId, 3n],
  ]);
  expect(events.map(({ data }) => data as object)).toEqual([made, progressed, completed].map(payoutJson));
});

test("changed metadata is in later events of the object, whichever feed came first", async () => {
  const orgId = newId("org");
  const wallet = newId("wal");
  const charge = chargeEntry(wallet, 50_000n, 50_000n, { metadata: { till: "3" } });
  const part = cancelChargeEntry(charge, { amountWon: 1_000n, cancelledWon: 1_000n, balanceWon: 49_000n });
  const change = (...events: ReturnType<typeof metadataChanged>[]) =>
    world.project(
      "projectMetadata",
      events.map((event) => ({ ...event, orgId })),
    );
  // The change of the cancellation arrives before its entry, and the older change of the charge last.
  await world.post(orgId, charge);
  await change(
    metadataChanged(part.requestId, 1n, { clerk: "kim" }),
    metadataChanged(charge.requestId, 2n, { till: "5" }),
  );
  await change(metadataChanged(charge.requestId, 1n, { till: "4" }));
  await world.settle(orgId, confirmed(charge.requestId));
  await world.post(orgId, part);
  await change(metadataChanged(part.requestId, 2n, { clerk: "lee" }));
  await world.settle(orgId, confirmed(part.requestId));

  const { events } = await world.list(orgId);
  expect(
    events.map(({ type, data }) => [
      type,
      data.metadata,
      data.cancellations.map((each: Noted) => each.metadata),
    ]),
  ).toEqual([
    ["charge.created", { till: "3" }, []],
    ["settlement.confirmed", { till: "5" }, []],
    ["charge.cancelled", { till: "5" }, [{ clerk: "kim" }]],
    ["settlement.confirmed", { till: "5" }, [{ clerk: "lee" }]],
  ]);
});

interface Noted {
  metadata: Record<string, string>;
}

test("entries become events with data as a read answers, numbered by organisation and by object", async () => {
  const orgId = newId("org");
  const wallet = newId("wal");
  const charge = chargeEntry(wallet, 50_000n, 50_000n, { memo: "top-up" });
  const paid = paymentEntry(parties(), split, { memo: "order" });
  const back = cancelPaymentEntry(paid, 0n);
  const refund = refundEntry(wallet, 1_000n);
  await world.post(orgId, charge, plainEntry(IntentKind.OPEN_ACCOUNT), paid);
  await world.post(orgId, back, refund);

  const { events, nextAfter, hasMore } = await world.list(orgId);
  expect([nextAfter, hasMore]).toEqual([4n, false]);
  expect(
    events.map(({ type, sequence, objectId, objectSequence }) => [type, sequence, objectId, objectSequence]),
  ).toEqual([
    ["charge.created", 1n, charge.requestId, 1n],
    ["payment.created", 2n, paid.requestId, 1n],
    ["payment.cancelled", 3n, paid.requestId, 2n],
    ["refund.created", 4n, refund.requestId, 1n],
  ]);
  const { charge: chargeRecord } = recordsOf(orgId, charge);
  expect(events[0]!.data).toEqual({
    ...chargeJson(chargeMessage(chargeRecord!, settled)),
    cancellations: [],
  });
  const { payment } = recordsOf(orgId, back);
  expect(events[2]!.data).toEqual({ ...paymentJson(paymentMessage(payment!, settled)), refunds: [] });
  expect(events[0]!.createdAt).toEqual(charge.postedAt);
  expect(await world.app.getEvent({ orgId, eventId: events[1]!.eventId })).toMatchObject({ sequence: 2n });
});

test("settlements change the object and are published once they are final", async () => {
  const orgId = newId("org");
  const paid = paymentEntry(parties(), split);
  await world.post(orgId, paid);
  await world.settle(orgId, submitted(paid.requestId));
  const back = cancelPaymentEntry(paid, 0n);
  await world.post(orgId, back);
  await world.settle(orgId, confirmed(paid.requestId, back.requestId), submitted(paid.requestId));

  const { events } = await world.list(orgId);
  expect(
    events.map(({ type, data }) => [type, data.settlement.status, data.cancellation?.settlement.status]),
  ).toEqual([
    ["payment.created", "PENDING", undefined],
    ["payment.cancelled", "SUBMITTED", "PENDING"],
    ["settlement.confirmed", "CONFIRMED", "PENDING"],
    ["settlement.confirmed", "CONFIRMED", "CONFIRMED"],
  ]);
  expect(events[3]!.data.cancellation.settlement).toEqual(CONFIRMED);
});

test("each refund of a part is an event of the payment, and its settlement is shown beside it", async () => {
  const orgId = newId("org");
  const paid = paymentEntry(parties(), split);
  const part = (amountWon: bigint, refundedWon: bigint) =>
    refundPaymentEntry(paid, { amountWon, refundedWon }, { memo: "item" });
  const [first, second] = [part(1_000n, 1_000n), part(500n, 1_500n)];
  await world.settle(orgId, confirmed(second.requestId));
  await world.post(orgId, paid, first, second);
  await world.settle(orgId, confirmed(first.requestId));

  const { events } = await world.list(orgId);
  expect(
    events.map(({ type, objectId, data }) => [type, objectId, data.status, data.refundedAmount]),
  ).toEqual([
    ["payment.created", paid.requestId, "PAID", 0],
    ["payment.refunded", paid.requestId, "PARTIALLY_REFUNDED", 1_000],
    ["payment.refunded", paid.requestId, "PARTIALLY_REFUNDED", 1_500],
    ["settlement.confirmed", paid.requestId, "PARTIALLY_REFUNDED", 1_500],
    ["settlement.confirmed", paid.requestId, "PARTIALLY_REFUNDED", 1_500],
  ]);
  expect(events[4]!.data.settlement.status).toBe("PENDING");
  expect(events[4]!.data.refunds).toMatchObject([
    { refundId: first.requestId, amount: 1_000, memo: "item", settlement: CONFIRMED },
    { refundId: second.requestId, amount: 500, settlement: CONFIRMED },
  ]);
});

test("a settlement that arrives before its entry is published right after the entry", async () => {
  const orgId = newId("org");
  const charge = chargeEntry(newId("wal"), 5_000n, 5_000n);
  const part = cancelChargeEntry(charge, { amountWon: 2_000n, cancelledWon: 2_000n, balanceWon: 3_000n });
  await world.settle(
    orgId,
    submitted(part.requestId),
    confirmed(part.requestId),
    confirmed(charge.requestId),
  );
  expect((await world.list(orgId)).events).toEqual([]);
  await world.post(orgId, charge, part);

  const { events } = await world.list(orgId);
  expect(events.map(({ type, objectId }) => [type, objectId])).toEqual(
    ["charge.created", "settlement.confirmed", "charge.cancelled", "settlement.confirmed"].map((type) => [
      type,
      charge.requestId,
    ]),
  );
  expect(events[3]!.data).toMatchObject({
    ...{ status: "PARTIALLY_CANCELLED", cancelledAmount: 2_000, settlement: CONFIRMED },
    cancellations: [{ cancelId: part.requestId, amount: 2_000, settlement: CONFIRMED }],
  });
  const more = (cancelledWon: bigint) =>
    cancelChargeEntry(charge, { amountWon: 500n, cancelledWon, balanceWon: 0n });
  await world.post(orgId, more(2_500n), more(3_000n));
  const { data } = (await world.list(orgId)).events.at(-1)!;
  expect(data.cancellations.map(({ amount }: { amount: number }) => amount)).toEqual([2_000, 500, 500]);
});

test("an outside transfer is completed or failed, with the reason of its settlement", async () => {
  const orgId = newId("org");
  const place = { walletId: newId("wal"), toAddress: OUTSIDE.toLowerCase() };
  const [good, bad] = [placeHoldEntry(place, 1_000n), placeHoldEntry(place, 2_000n)];
  await world.post(
    orgId,
    good,
    bad,
    transferEntry({ fromWalletId: newId("wal"), toWalletId: newId("wal"), toAddress: OUTSIDE }, 5n),
  );
  await world.settle(orgId, confirmed(good.requestId), failed(bad.requestId, "expired"));
  await world.post(orgId, endHoldEntry(good, IntentKind.POST_HOLD), endHoldEntry(bad, IntentKind.VOID_HOLD));

  const { events } = await world.list(orgId);
  expect(events.map(({ type, data }) => [type, data.status, data.failureReason])).toEqual([
    ["transfer.created", "PENDING", null],
    ["transfer.created", "PENDING", null],
    ["transfer.created", "COMPLETED", null],
    ["transfer.completed", "COMPLETED", null],
    ["settlement.confirmed", "PENDING", null],
    ["settlement.failed", "PENDING", null],
    ["transfer.completed", "COMPLETED", null],
    ["transfer.failed", "FAILED", "expired"],
  ]);
  expect(events[0]!.data.toWalletAddress).toBe(OUTSIDE);
});

test("wallet events show the balance after the newest entry", async () => {
  const orgId = newId("org");
  const walletId = newId("wal");
  const facts = { walletId, orgId, userId: "u-1", walletType: WalletType.NORMAL, walletAddress: OUTSIDE };
  const made = { wallet: facts, metadata: { branch: "Seoul" }, createdAt: new Date(1_000), keyIndex: 1 };
  const wallet = (type: string, payload: Uint8Array) => received(type, orgId, walletId, payload);
  const updated = { walletId, metadata: { branch: "Busan" }, updatedAt: new Date(2_000) };
  await world.project("projectWallets", [wallet("wallet_created", WalletCreated.encode(made).finish())]);
  await world.post(orgId, chargeEntry(walletId, 7_000n, 7_000n));
  await world.project("projectWallets", [
    wallet("wallet_updated", WalletUpdated.encode(updated).finish()),
    wallet(
      "wallet_deactivated",
      WalletDeactivated.encode({ walletId, deactivatedAt: new Date(3_000) }).finish(),
    ),
  ]);
  const block = { orgId, walletId, walletAddress: OUTSIDE, blocked: true, blockNumber: 1n };
  await world.settle(orgId, wallet("wallet_block_changed", WalletBlockChanged.encode(block).finish()));

  const { events } = await world.list(orgId, { objectId: walletId });
  expect(
    events.map(({ type, data }) => [type, data.balance, data.status, data.metadata.branch, data.updatedAt]),
  ).toEqual([
    ["wallet.created", 0, "ACTIVE", "Seoul", "1970-01-01T00:00:01.000Z"],
    ["wallet.updated", 7_000, "ACTIVE", "Busan", "1970-01-01T00:00:02.000Z"],
    ["wallet.deactivated", 7_000, "DEACTIVATED", "Busan", "1970-01-01T00:00:03.000Z"],
    ["wallet.frozen", 7_000, "DEACTIVATED", "Busan", "1970-01-01T00:00:03.000Z"],
  ]);
  expect(Object.keys(events[0]!.data)).toEqual([
    ...["walletId", "userId", "walletType", "walletAddress", "balance", "availableBalance"],
    ...["status", "metadata", "createdAt", "updatedAt"],
  ]);
});

test("a freeze by operators is published, and one by the chain is left to chain-relayer's event", async () => {
  const orgId = newId("org");
  const walletId = newId("wal");
  const facts = { walletId, orgId, userId: "u-1", walletType: WalletType.NORMAL, walletAddress: OUTSIDE };
  const made = { wallet: facts, metadata: {}, createdAt: new Date(1_000), keyIndex: 1 };
  const created = received("wallet_created", orgId, walletId, WalletCreated.encode(made).finish());
  await world.project("projectWallets", [created]);
  const post = (source: FreezeSource, freeze: Freeze) =>
    world.post(orgId, {
      ...chargeEntry(walletId, 7_000n, 7_000n),
      ...{ kind: IntentKind.FREEZE_ACCOUNT, requestId: newId("opn"), postings: [] },
      result: { $case: "walletFreeze", value: { walletId, source, freeze } },
    });
  await post(FreezeSource.CHAIN, Freeze.ALL);
  await post(FreezeSource.OPERATOR, Freeze.OUTGOING);
  await post(FreezeSource.OPERATOR, Freeze.NONE);
  const { events } = await world.list(orgId, { objectId: walletId });
  expect(events.map(({ type, data }) => [type, data.balance])).toEqual([
    ["wallet.created", 0],
    ["wallet.frozen", 7_000],
    ["wallet.updated", 7_000],
  ]);
});

test("deposits and new statuses of recorded transactions are published", async () => {
  const orgId = newId("org");
  const id = newId("txn");
  const fields = {
    ...{
      fromNetworkType: NETWORK,
      toNetworkType: NETWORK,
      paymentType: PaymentType.INSTANT,
      txHash: TX_HASH,
    },
    ...{ fromAddress: OUTSIDE, toAddress: OUTSIDE, amount: "1000000", metadata: {} },
  };
  const change = (status: RecordStatus) => {
    const [createdAt, updatedAt] = [new Date(1_000), new Date(2_000)];
    const history = [{ status, changedBy: "chain", changedAt: updatedAt }];
    const record = { id, fields, status, createdAt, updatedAt, history };
    return received("record_changed", orgId, id, RecordChanged.encode({ record }).finish());
  };
  await world.settle(orgId, change(RecordStatus.PENDING), change(RecordStatus.CONFIRMED));
  const deposit = {
    ...{ walletId: newId("wal"), fromAddress: OUTSIDE.toLowerCase(), amountWon: "900", txHash: TX_HASH },
    ...{ logIndex: 1, blockNumber: 129n, ledgerRef: newId("trf"), network: NETWORK },
  };
  const credited = DepositCredited.encode(deposit).finish();
  await world.settle(orgId, received("deposit_credited", orgId, deposit.ledgerRef, credited));

  const { events } = await world.list(orgId);
  expect(events.map(({ type }) => type)).toEqual(["transaction.status_changed", "deposit.credited"]);
  expect(events[0]!.data).toMatchObject({
    id,
    status: "CONFIRMED",
    history: [{ status: "PENDING" }, { status: "CONFIRMED", changedBy: "CHAIN" }],
  });
  expect(events[1]!.data).toMatchObject({
    depositId: deposit.ledgerRef,
    amount: 900,
    fromAddress: OUTSIDE,
    settlement: CONFIRMED,
  });
});
