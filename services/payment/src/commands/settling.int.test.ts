import { rawSql } from "@wonrail/kit/db";
import { readPage } from "@wonrail/kit/page";
import { ChargeCancelled, PaymentCancelled } from "@wonrail/proto/payment/events/v1/events";
import { SettlementStatus, TransferStatus } from "@wonrail/proto/payment/v1/payment";
import {
  OperationConfirmed,
  OperationFailed,
  OperationSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { findOldestPendingSeconds } from "../store/transfers";
import { deliver } from "./testing/events";
import { doAt } from "./testing/failpoints";
import { asOwner, type Command, openWorld, OUTSIDE, valueOf, type World } from "./testing/world";

const HASH = `0x${"b".repeat(64)}`;

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

let world: World;

beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

test("transfers that the ledger does not end, however many, keep none behind them waiting", async () => {
  const { walletId: fromWalletId } = await world.openWallet({ amountWon: 5_000 });
  const value = { fromWalletId, toWalletAddress: OUTSIDE, amountWon: "1000", memo: undefined };
  const { transferId } = valueOf(await world.execute({ $case: "transfer", value }), "transfer");
  // Of their holds the ledger knows nothing.
  await asOwner(
    world.payment,
    `insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, amount_won, created_at, updated_at)
     select org_id, 'trf_' || lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7000800000000000' || lpad(n::text, 4, '0'),
       status, from_wallet_id, to_wallet_address, amount_won, created_at, updated_at - interval '1 hour'
     from transfers, generate_series(1, 450) n`,
  );
  await asOwner(
    world.payment,
    `insert into settlements (org_id, ledger_ref, status, network, tx_hash, block_number)
     select org_id, transfer_id, 'CONFIRMED', 'N', '0x', 1 from transfers where transfer_id <> '${transferId}'`,
  );
  await confirm(transferId);
  expect(await world.app().noteMissedSettled()).toBe(450);

  for (let rounds = 0; rounds < 3; rounds += 1) {
    await expect(world.app().settleTransfers()).rejects.toThrow("450 transfers could not be ended");
  }
  // A process that stops goes no further than what it has in hand.
  const stopped = world.app().settleTransfers(AbortSignal.abort());
  await expect(stopped).rejects.toThrow("200 transfers could not be ended");
  const left = rawSql("select count(*) as left from transfers where status = 'PENDING'");
  expect(await world.payment.db.one(left)).toEqual({ left: 450n });
  expect(await world.balances(fromWalletId)).toEqual([4_000]);
}, 60_000);

test.each([
  ["CONFIRMED", 4_000],
  ["FAILED", 5_000],
] as const)(
  "a transfer that is %s before it is written down is ended like any other",
  async (last, left) => {
    const { walletId: fromWalletId } = await world.openWallet({ amountWon: 5_000 });
    const value = { fromWalletId, toWalletAddress: OUTSIDE, amountWon: "1000", memo: undefined };
    const claimed = rawSql("select operation_id as id from operations where kind = 'TRANSFER'");
    doAt("payment.posted", async () => {
      const { id } = await world.payment.db.one<{ id: string }>(claimed);
      await (last === "CONFIRMED" ? confirm(id) : fail(id));
    });
    await world.execute({ $case: "transfer", value });
    await world.app().settleTransfers();
    const { accounts } = await world.ledger().getBalances({ orgId: world.orgId, accountIds: [fromWalletId] });
    expect(accounts).toMatchObject([{ balanceWon: String(left), heldWon: "0" }]);
  },
  60_000,
);

/** What has become of the transfer when both say that. */
const ENDED = { CONFIRMED: TransferStatus.COMPLETED, FAILED: TransferStatus.FAILED };

test.each<["CONFIRMED" | "FAILED", number]>([
  ["CONFIRMED", 4_000],
  ["FAILED", 5_000],
])(
  "a forged %s ends no hold, and keeps no other waiting, until chain-relayer itself says so",
  async (word, left) => {
    const [victim, other] = [await hold(), await hold()];
    const opposite = word === "FAILED" ? "CONFIRMED" : "FAILED";
    world.relayerSays.set(victim.transferId, "UNKNOWN");
    await (word === "FAILED" ? fail(victim.transferId) : confirm(victim.transferId));
    await confirm(other.transferId);
    for (const said of ["UNKNOWN", "OPEN", opposite] as const) {
      world.relayerSays.set(victim.transferId, said);
      await world.app().settleTransfers();
      expect(await read(victim.transferId)).toMatchObject({ status: TransferStatus.PENDING });
      expect(await world.balances(victim.walletId, other.walletId)).toEqual([5_000, 4_000]);
    }
    expect(await world.metric("payment_doubted_transfers_total")).toBe(3);

    world.relayerSays.set(victim.transferId, word);
    await world.app().settleTransfers();
    expect(await read(victim.transferId)).toMatchObject({ status: ENDED[word] });
    expect(await world.balances(victim.walletId)).toEqual([left]);
    expect(await world.metric("payment_doubted_transfers_total")).toBe(3);
  },
  60_000,
);

test("while chain-relayer cannot be asked what has settled waits, and is ended when it can", async () => {
  const { walletId, transferId } = await hold();
  await confirm(transferId);
  await world.stop("chain-relayer");
  for (let rounds = 0; rounds < 3; rounds += 1)
    await expect(world.app().settleTransfers()).rejects.toMatchObject({ retryable: true });
  expect(await read(transferId)).toMatchObject({ status: TransferStatus.PENDING });
  expect(await world.balances(walletId)).toEqual([5_000]);
  await world.crash();
  await world.app().settleTransfers();
  expect(await read(transferId)).toMatchObject({ status: TransferStatus.COMPLETED });
  expect(await world.balances(walletId)).toEqual([4_000]);
}, 60_000);

test("while the ledger is away what has settled waits, and its round is one to be tried again", async () => {
  const { walletId, transferId } = await hold();
  await confirm(transferId);
  await world.stop("ledger");
  await expect(world.app().settleTransfers()).rejects.toMatchObject({ retryable: true });
  expect(await read(transferId)).toMatchObject({ status: TransferStatus.PENDING });
  await world.crash();
  await world.app().settleTransfers();
  expect(await read(transferId)).toMatchObject({ status: TransferStatus.COMPLETED });
  expect(await world.balances(walletId)).toEqual([4_000]);
}, 60_000);

test("how long a transfer has waited for the chain's last word is measured from when it was written down", async () => {
  const { db } = world.payment;
  const { walletId: fromWalletId } = await world.openWallet({ amountWon: 5_000 });
  expect(await findOldestPendingSeconds(db)).toBe(0);
  const value = { fromWalletId, toWalletAddress: OUTSIDE, amountWon: "1000", memo: undefined };
  const { transferId } = valueOf(await world.execute({ $case: "transfer", value }), "transfer");
  await world.execute({ $case: "transfer", value });
  await asOwner(
    world.payment,
    `update transfers set updated_at = now() - interval '2 hours' where transfer_id = '${transferId}'`,
  );
  expect(await findOldestPendingSeconds(db)).toBeGreaterThanOrEqual(7_200);
  await confirm(transferId);
  await world.app().settleTransfers();
  expect(await findOldestPendingSeconds(db)).toBeLessThan(7_200);
}, 60_000);

test("a cancellation tells of the charge and of the payment with how far they are on the chain", async () => {
  const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const none = { memo: undefined };
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  const paying = { ...ids, amountWon: "1000", incentiveAmountWon: "0", ...none };
  const { paymentId } = valueOf(await world.execute({ $case: "pay", value: paying }), "payment");
  const { chargeId } = payer;
  for (const ledgerRef of [chargeId, paymentId]) await confirm(ledgerRef);

  const confirmed = { status: SettlementStatus.CONFIRMED, txHash: HASH, blockNumber: 3n };
  const partly = { chargeId, amountWon: "1000", ...none };
  const { charge } = valueOf(
    await world.execute({ $case: "cancelCharge", value: partly }),
    "cancelledCharge",
  );
  expect(charge!.settlement).toMatchObject(confirmed);
  const whole = { paymentId, ...none };
  const { payment } = valueOf(
    await world.execute({ $case: "cancelPayment", value: whole }),
    "cancelledPayment",
  );
  expect(payment!.settlement).toMatchObject(confirmed);

  const told = await payloads("charge_cancelled", "payment_cancelled");
  expect(ChargeCancelled.decode(told[0]!).charge!.settlement).toMatchObject(confirmed);
  expect(PaymentCancelled.decode(told[1]!).cancelled!.payment!.settlement).toMatchObject(confirmed);
}, 60_000);

const ON_THE_CHAIN = {
  PENDING: {},
  SUBMITTED: { txHash: HASH },
  CONFIRMED: { txHash: HASH, blockNumber: 3n },
};
type Stage = keyof typeof ON_THE_CHAIN;
const at = (stage: Stage) => ({ status: SettlementStatus[stage], ...ON_THE_CHAIN[stage] });
const STAGES: [Stage, (ledgerRef: string) => Promise<void>][] = [
  ["PENDING", async () => undefined],
  ["SUBMITTED", (ledgerRef) => submit(ledgerRef)],
  ["CONFIRMED", (ledgerRef) => confirm(ledgerRef)],
];

test("a payment's cancellation goes its own way on the chain, and the payment's stays as it was", async () => {
  const { orgId } = world;
  const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  const value = { ...ids, amountWon: "1000", incentiveAmountWon: "0", memo: undefined };
  const paid = valueOf(await world.execute({ $case: "pay", value }), "payment");
  const { paymentId } = paid;
  await confirm(paymentId);
  const before = await world.app().getPayment({ orgId, id: paymentId });
  expect([paid.cancellation, before.cancellation]).toEqual([undefined, undefined]);

  const cancel: Command = { $case: "cancelPayment", value: { paymentId, memo: undefined } };
  const { cancelId, payment } = valueOf(await world.execute(cancel, "once"), "cancelledPayment");
  expect(payment).toMatchObject({
    settlement: at("CONFIRMED"),
    cancellation: { cancelId, settlement: at("PENDING") },
  });
  for (const [stage, reach] of STAGES) {
    await reach(cancelId);
    const { items } = await world
      .app()
      .listPayments({ orgId, walletId: payer.walletId, page: readPage({ limit: 5 }, () => true) });
    for (const found of [await world.app().getPayment({ orgId, id: paymentId }), ...items])
      expect(found).toMatchObject({
        settlement: at("CONFIRMED"),
        cancellation: { cancelId, settlement: at(stage) },
      });
  }
  // What was answered once is answered again.
  const again = valueOf(await world.execute(cancel, "once"), "cancelledPayment");
  expect(again.payment).toEqual(payment);
}, 60_000);

test("each part of a charge that is cancelled goes its own way on the chain, and the charge's stays as it was", async () => {
  const { orgId } = world;
  const { chargeId: id } = await world.openWallet({ amountWon: 5_000 });
  expect(await world.app().getCharge({ orgId, id })).toMatchObject({ cancellations: [] });
  await confirm(id);
  const part = async (amountWon: string | undefined, memo: string | undefined) => {
    const command: Command = { $case: "cancelCharge", value: { chargeId: id, amountWon, memo } };
    const { cancelId, charge, cancellation } = valueOf(await world.execute(command), "cancelledCharge");
    expect(charge!.settlement).toMatchObject(at("CONFIRMED"));
    expect(cancellation).toMatchObject({ cancelId, settlement: at("PENDING") });
    return cancelId;
  };
  const [one, other] = [await part("1000", "too much"), await part(undefined, undefined)];
  for (const [stage, reach] of STAGES) {
    await reach(other);
    const { charge, cancellations } = await world.app().getCharge({ orgId, id });
    expect(charge.settlement).toMatchObject(at("CONFIRMED"));
    expect(cancellations).toMatchObject([
      {
        cancelId: one,
        amountWon: "1000",
        memo: "too much",
        settlement: at("PENDING"),
        createdAt: expect.any(Date),
      },
      {
        cancelId: other,
        amountWon: "4000",
        memo: undefined,
        settlement: at(stage),
        createdAt: expect.any(Date),
      },
    ]);
  }
}, 60_000);

test("of a charge in more than a hundred parts the newest are shown, oldest first", async () => {
  const { orgId } = world;
  const { chargeId: id } = await world.openWallet({ amountWon: 5_000 });
  const { chargeId: otherId } = await world.openWallet({ amountWon: 5_000 });
  await asOwner(
    world.payment,
    `insert into charge_cancels (org_id, cancel_id, charge_id, amount_won, created_at)
     select '${orgId}', 'ccl_' || lpad(n::text, 32, '0'), case n when 103 then '${otherId}' else '${id}' end, n, now()
     from generate_series(1, 103) n`,
  );
  const { cancellations } = await world.app().getCharge({ orgId, id });
  expect(cancellations.map(({ amountWon }) => Number(amountWon))).toEqual(
    Array.from({ length: 100 }, (_, n) => n + 3),
  );
}, 60_000);

test("a refund is read again to follow it on the chain", async () => {
  const { orgId } = world;
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const made = valueOf(await world.execute({ $case: "refund", value: { walletId, memo: "bye" } }), "refund");
  const { refundId: id } = made;
  for (const [stage, reach] of STAGES) {
    await reach(id);
    expect(await world.app().getRefund({ orgId, id })).toEqual({
      ...made,
      settlement: expect.objectContaining(at(stage)),
    });
  }
}, 60_000);

async function hold(): Promise<{ walletId: string; transferId: string }> {
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const value = { fromWalletId: walletId, toWalletAddress: OUTSIDE, amountWon: "1000", memo: undefined };
  const { transferId } = valueOf(await world.execute({ $case: "transfer", value }), "transfer");
  return { walletId, transferId };
}

function read(id: string) {
  return world.app().getTransfer({ orgId: world.orgId, id });
}

async function fail(ledgerRef: string): Promise<void> {
  const proof = { reason: "expired", proofBlockNumber: 3n, proofBlockHash: HASH };
  const word = OperationFailed.fromPartial({ ledgerRef, network: "N", ...proof });
  await deliver(world, "operation_failed", OperationFailed.encode(word).finish());
}

async function submit(ledgerRef: string): Promise<void> {
  const word = OperationSubmitted.fromPartial({ ledgerRef, network: "N", txHash: HASH });
  await deliver(world, "operation_submitted", OperationSubmitted.encode(word).finish());
}

async function confirm(ledgerRef: string): Promise<void> {
  const word = { ledgerRef, network: "N", txHash: HASH, blockNumber: 3n };
  const payload = OperationConfirmed.encode(OperationConfirmed.fromPartial(word)).finish();
  await deliver(world, "operation_confirmed", payload);
}

async function payloads(...types: string[]): Promise<Buffer[]> {
  const rows = await world.payment.db.query<{ payload: Buffer }>(
    rawSql(`select payload from outbox where type in ('${types.join("', '")}') order by id`),
  );
  return rows.map(({ payload }) => payload);
}
