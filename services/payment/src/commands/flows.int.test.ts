import { newId } from "@wonrail/kit/contract/ids";
import { OrganisationChanged } from "@wonrail/proto/auth/events/v1/events";
import { ChargeStatus, PaymentStatus, TransferStatus } from "@wonrail/proto/payment/v1/payment";
import { WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { catchUp, deliver, readJournal } from "./testing/events";
import {
  cancelCharge,
  cancelPayment,
  charge,
  type Command,
  pay,
  refund,
  refundPayment,
  transfer,
} from "./testing/commands";
import { openWorld, OUTSIDE, valueOf, type World } from "./testing/world";

// Each command from the request to the record, over the real ledger and wallet.

let world: World;
const clock = jest.spyOn(Date, "now");
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterEach(async () => expect(await world.violations()).toEqual([]));
afterAll(() => world.close());

const NOTES = { memo: "점심", reference: "INV-2026-0042", metadata: { order: "42", branch: "강남" } };
const PAGE = { limit: 5, offset: 0, after: null };

const lists = async (walletId: string) => {
  const wanted = { orgId: world.orgId, walletId, page: PAGE };
  const [charges, transfers, payments] = await Promise.all([
    world.app().listCharges(wanted),
    world.app().listTransfers(wanted),
    world.app().listPayments(wanted),
  ]);
  return { charges: charges.items, transfers: transfers.items, payments: payments.items };
};

describe("commands in sequence", () => {
  test("a charge mints, and its parts are cancelled up to its amount", async () => {
    const { walletId } = await world.openWallet();
    const made = valueOf(await world.execute(charge(walletId, 5_000, NOTES)), "charge");
    expect(made).toMatchObject({
      ...{ status: ChargeStatus.CHARGED, balanceWon: "5000", cancelledAmountWon: "0", ...NOTES },
    });
    const part = valueOf(await world.execute(cancelCharge(made.chargeId, 2_000)), "cancelledCharge");
    expect(part.charge).toMatchObject({
      status: ChargeStatus.PARTIALLY_CANCELLED,
      cancelledAmountWon: "2000",
    });
    expect(await refusalOf(cancelCharge(made.chargeId, 3_001))).toBe("CHG_005");
    const rest = valueOf(await world.execute(cancelCharge(made.chargeId)), "cancelledCharge");
    expect(rest.charge).toMatchObject({ status: ChargeStatus.CANCELLED, cancelledAmountWon: "5000" });
    expect(await refusalOf(cancelCharge(made.chargeId))).toBe("CHG_003");
    expect(await world.balances(walletId)).toEqual([0]);
  });

  test("the balance in a cancellation's answer is the balance after the cancellation", async () => {
    const { walletId, chargeId } = await world.openWallet({ amountWon: 50_000 });
    const { charge: after, cancellation } = valueOf(
      await world.execute(cancelCharge(chargeId, 10_000, NOTES)),
      "cancelledCharge",
    );
    expect(after!.balanceWon).toBe("40000");
    expect(cancellation).toMatchObject({ amountWon: "10000", ...NOTES });
    await world.execute(charge(walletId, 1_000));
    const { charge: read, cancellations } = await world.app().getCharge({ orgId: world.orgId, id: chargeId });
    expect(read).toEqual(after);
    expect(cancellations).toEqual([cancellation]);
  });

  test("a charge over the organisation's daily limit is CHG_008", async () => {
    const { walletId } = await world.openWallet();
    expect(await refusalOf(charge(walletId, 1_000_000_001))).toBe("CHG_008");
    expect(await world.balances(walletId)).toEqual([0]);
  });

  test.each(["NORMAL", "GOVERNMENT"] as const)("a refund empties a charged %s wallet", async (type) => {
    const { walletId } = await world.openWallet({ type, amountWon: 7_000 });
    const made = valueOf(await world.execute(refund(walletId, NOTES)), "refund");
    expect(made).toMatchObject({ walletId, amountWon: "7000", ...NOTES });
    expect(await world.balances(walletId)).toEqual([0]);
    expect(await refusalOf(refund(walletId))).toBe("CHG_007");
    expect(await world.app().getRefund({ orgId: world.orgId, id: made.refundId })).toEqual(made);
  });

  test("a charged INCENTIVE wallet is not refunded, and its charge is cancelled", async () => {
    const { walletId, chargeId } = await world.openWallet({ type: "INCENTIVE", amountWon: 7_000 });
    const refused = valueOf(await world.execute(refund(walletId)), "error");
    expect([refused.code, JSON.parse(refused.detailsJson!)]).toEqual(["CHG_007", { reason: "wallet_type" }]);
    valueOf(await world.execute(cancelCharge(chargeId)), "cancelledCharge");
    expect(await world.balances(walletId)).toEqual([0]);
  });

  test("a transfer between the organisation's wallets is COMPLETED at once", async () => {
    const [from, to] = [await world.openWallet({ amountWon: 3_000 }), await world.openWallet()];
    const command = transfer(from.walletId, to.address.toLowerCase(), 1_000, NOTES);
    const made = valueOf(await world.execute(command), "transfer");
    expect(made).toMatchObject({
      ...{ status: TransferStatus.COMPLETED, toWalletId: to.walletId, toWalletAddress: to.address, ...NOTES },
    });
    expect(await world.balances(from.walletId, to.walletId)).toEqual([2_000, 1_000]);
    expect(await world.app().getTransfer({ orgId: world.orgId, id: made.transferId })).toEqual(made);
  });

  test("a transfer to an outside address is PENDING and held", async () => {
    const { walletId } = await world.openWallet({ amountWon: 3_000 });
    const made = valueOf(await world.execute(transfer(walletId, OUTSIDE, 1_000, NOTES)), "transfer");
    expect(made).toMatchObject({
      ...{ status: TransferStatus.PENDING, toWalletAddress: OUTSIDE, toWalletId: undefined, ...NOTES },
    });
    expect(await refusalOf(transfer(walletId, OUTSIDE, 2_001))).toBe("TRF_001");
    expect(await world.app().getTransfer({ orgId: world.orgId, id: made.transferId })).toEqual(made);
  });

  test("a payment takes INCENTIVE, then NORMAL, accrues on NORMAL, and is cancelled completely, once", async () => {
    const [payer, receiver] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
    const incentive = await world.openWallet({ type: "INCENTIVE", userId: payer.userId, amountWon: 1_000 });
    const wallets = [payer.walletId, incentive.walletId, receiver.walletId];
    const made = valueOf(
      await world.execute(pay(payer.walletId, receiver.walletId, 4_000, NOTES)),
      "payment",
    );
    expect(made).toMatchObject({
      ...{ status: PaymentStatus.PAID, incentiveAccruedWon: "150", ...NOTES, cancellation: undefined },
      breakdown: { governmentWon: "0", incentiveWon: "1000", normalWon: "3000" },
    });
    expect(await world.balances(...wallets)).toEqual([7_000, 150, 4_000]);
    expect(await read(made.paymentId)).toEqual({ payment: made, refunds: [] });

    const cancelNotes = { memo: "sent back", reference: "R-1", metadata: { why: "wrong" } };
    const cancelled = valueOf(
      await world.execute(cancelPayment(made.paymentId, cancelNotes)),
      "cancelledPayment",
    );
    expect(cancelled).toMatchObject({
      ...{ ...NOTES, status: PaymentStatus.CANCELLED, createdAt: made.createdAt },
      cancellation: {
        ...{ ...cancelNotes, restoredIncentiveWon: "1000", restoredNormalWon: "3000" },
        ...{ incentiveClawedBackWon: "150", keptFromNormalWon: "0" },
      },
    });
    expect(await world.balances(...wallets)).toEqual([10_000, 1_000, 0]);
    expect(await refusalOf(cancelPayment(made.paymentId))).toBe("PAY_003");
    expect(await read(made.paymentId)).toEqual({ payment: cancelled, refunds: [] });
  });

  test("the answer and every later read show the part of a spent accrual that was kept", async () => {
    const [payer, receiver] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
    const first = pay(payer.walletId, receiver.walletId, 4_000, { incentive: 0 });
    const { paymentId } = valueOf(await world.execute(first), "payment");
    await world.execute(pay(payer.walletId, receiver.walletId, 120, { incentive: 120 }));
    const cancelled = valueOf(await world.execute(cancelPayment(paymentId)), "cancelledPayment");
    expect(cancelled.cancellation).toMatchObject({
      ...{ restoredIncentiveWon: "0", restoredNormalWon: "3880" },
      ...{ incentiveClawedBackWon: "80", keptFromNormalWon: "120" },
    });
    expect(await read(paymentId)).toEqual({ payment: cancelled, refunds: [] });
  });

  test("a payment is refunded in parts, NORMAL money first, and its accrual in proportion", async () => {
    const [payer, receiver] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
    const incentive = await world.openWallet({ type: "INCENTIVE", userId: payer.userId, amountWon: 1_000 });
    const wallets = [payer.walletId, incentive.walletId, receiver.walletId];
    const made = await world.execute(pay(payer.walletId, receiver.walletId, 4_000, NOTES));
    const { paymentId } = valueOf(made, "payment");
    const notes = { memo: "one item", reference: "R-1", metadata: { item: "7" } };
    const first = valueOf(await world.execute(refundPayment(paymentId, 1_010, notes)), "refundedPayment");
    expect(first).toMatchObject({
      payment: { ...NOTES, status: PaymentStatus.PARTIALLY_REFUNDED, refundedAmountWon: "1010" },
      refund: {
        ...{ ...notes, amountWon: "1010", restoredIncentiveWon: "0", restoredNormalWon: "1010" },
        ...{ incentiveClawedBackWon: "51", keptFromNormalWon: "0" },
      },
    });
    expect(await world.balances(...wallets)).toEqual([8_010, 99, 2_990]);
    expect(await refusalOf(refundPayment(paymentId, 2_991))).toBe("PAY_009");
    expect(await refusalOf(cancelPayment(paymentId))).toBe("PAY_008");
    const rest = valueOf(await world.execute(refundPayment(paymentId, 2_990)), "refundedPayment");
    expect(rest).toMatchObject({
      payment: { status: PaymentStatus.REFUNDED, refundedAmountWon: "4000" },
      refund: {
        ...{ restoredIncentiveWon: "1000", restoredNormalWon: "1990" },
        ...{ incentiveClawedBackWon: "99", keptFromNormalWon: "0" },
      },
    });
    expect(await world.balances(...wallets)).toEqual([10_000, 1_000, 0]);
    expect(await read(paymentId)).toEqual({ payment: rest.payment, refunds: [first.refund, rest.refund] });
    const lines = await world.app().listWalletTransactions({
      ...{ orgId: world.orgId, walletId: receiver.walletId, types: ["PAYMENT_CANCEL"], page: undefined },
      ...{ from: undefined, to: undefined },
    });
    expect(lines.transactions.map(({ relatedId, cancelId }) => [relatedId, cancelId])).toEqual([
      [paymentId, rest.refund!.refundId],
      [paymentId, first.refund!.refundId],
    ]);
  });

  test("a refund of a payment happens once for its key, and another amount under the key is REQ_003", async () => {
    const [payer, receiver] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
    const made = await world.execute(pay(payer.walletId, receiver.walletId, 4_000, { incentive: 0 }));
    const { paymentId } = valueOf(made, "payment");
    const first = await world.execute(refundPayment(paymentId, 500), "refund once");
    const again = await world.execute(refundPayment(paymentId, 500), "refund once");
    expect(again).toEqual({ ...first, replayed: true });
    expect(valueOf(await world.execute(refundPayment(paymentId, 501), "refund once"), "error").code).toBe(
      "REQ_003",
    );
    expect(await world.balances(receiver.walletId)).toEqual([3_500]);
  });

  test("a payment names the payer's wallet of the request, also when that wallet pays nothing", async () => {
    const [payer, receiver] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
    const named = await world.openWallet({ type: "GOVERNMENT", userId: payer.userId });
    const made = valueOf(await world.execute(pay(named.walletId, receiver.walletId, 1_000)), "payment");
    expect(made).toMatchObject({ payerWalletId: named.walletId, receiverWalletId: receiver.walletId });
  });
});

test("lists equal what the commands answered once the projection has caught up", async () => {
  const [payer, receiver] = [await world.openWallet(), await world.openWallet()];
  const first = valueOf(await world.execute(charge(payer.walletId, 9_000, NOTES)), "charge");
  const charged = valueOf(await world.execute(cancelCharge(first.chargeId, 500)), "cancelledCharge").charge;
  const moved = valueOf(await world.execute(transfer(payer.walletId, receiver.address, 1_000)), "transfer");
  const held = valueOf(await world.execute(transfer(payer.walletId, OUTSIDE, 1_000)), "transfer");
  const paid = valueOf(await world.execute(pay(payer.walletId, receiver.walletId, 2_000)), "payment");
  const cancelled = valueOf(await world.execute(cancelPayment(paid.paymentId)), "cancelledPayment");
  const other = valueOf(await world.execute(pay(payer.walletId, receiver.walletId, 2_000)), "payment");
  await world.execute(refundPayment(other.paymentId, 300));
  const part = await world.execute(refundPayment(other.paymentId, 400, NOTES));
  const { payment: refunded } = valueOf(part, "refundedPayment");
  expect(await lists(payer.walletId)).toEqual({ charges: [], transfers: [], payments: [] });
  await catchUp(world);
  expect(await lists(payer.walletId)).toEqual({
    ...{ charges: [charged], transfers: [held, moved], payments: [refunded, cancelled] },
  });
});

test("a refused payment creates no wallet, and the first successful one creates the payer's INCENTIVE wallet", async () => {
  const { orgId } = world;
  const [payer, receiver] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
  const [closed, shut] = [await world.openWallet(), await world.openWallet()];
  for (const { walletId } of [closed, shut]) await world.wallet().deactivateWallet({ orgId, walletId });
  const government = await world.openWallet({ type: "GOVERNMENT" });
  const own = await world.openWallet({ type: "GOVERNMENT", userId: payer.userId });
  const walletIds = async () => {
    const all = { userId: undefined, walletType: WalletType.UNSPECIFIED, status: WalletStatus.UNSPECIFIED };
    const page = { limit: 100, position: undefined };
    const { wallets } = await world.wallet().listWallets({ orgId, ...all, page });
    return wallets.map(({ walletId }) => walletId);
  };
  const before = await walletIds();
  const refused: [payerId: string, receiverId: string, code: string, incentive?: number][] = [
    [closed.walletId, receiver.walletId, "WAL_004"],
    [newId("wal"), receiver.walletId, "WAL_002"],
    [payer.walletId, shut.walletId, "WAL_004"],
    [payer.walletId, newId("wal"), "WAL_002"],
    [payer.walletId, government.walletId, "PAY_005"],
    [payer.walletId, own.walletId, "PAY_005"],
    [payer.walletId, payer.walletId, "PAY_005"],
    [payer.walletId, receiver.walletId, "PAY_006", 1],
  ];
  for (const [from, to, code, incentive] of refused) {
    const command = pay(from, to, 1_000, incentive === undefined ? {} : { incentive });
    expect([code, await refusalOf(command)]).toEqual([code, code]);
    expect([code, await walletIds()]).toEqual([code, before]);
  }
  valueOf(await world.execute(pay(payer.walletId, receiver.walletId, 1_000)), "payment");
  expect(await walletIds()).toHaveLength(before.length + 1);
});

test("a new policy is in force after a moment, and an older event does not bring the old policy back", async () => {
  const [from, to] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
  const policy = (limit: string, version: bigint) => {
    const organisation = {
      ...{
        orgId: world.orgId,
        dailyTransferLimitWon: limit,
        dailyChargeLimitWon: "9000000000",
        maxChargeWon: "9000000000",
      },
      ...{ incentiveRateBps: 1_000, version },
    };
    const payload = OrganisationChanged.encode(OrganisationChanged.fromPartial({ organisation })).finish();
    return { type: "organisation_changed", payload: Buffer.from(payload) };
  };
  await world.execute(transfer(from.walletId, to.address, 1));
  await deliver(world, policy("2000", 5n));
  await deliver(world, policy("9000", 4n));
  // A clock that is set back during the test changes nothing.
  clock.mockImplementation(() => new Date().getTime() - 3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await refusalOf(transfer(from.walletId, to.address, 2_000))).toBe("TRF_003");
  clock.mockImplementation(() => new Date().getTime());
  await world.execute(transfer(from.walletId, to.address, 1_999));
  const paid = valueOf(await world.execute(pay(from.walletId, to.walletId, 1_000)), "payment");
  expect(paid.incentiveAccruedWon).toBe("100");
  await deliver(world, policy("5000000", 6n));
});

test("a malformed command is refused before a call to the ledger", async () => {
  const from = await world.openWallet({ amountWon: 10_000 });
  const before = (await readJournal(world)).length;
  const tooLong = { reference: "r".repeat(101) };
  const refused: [Command, string][] = [
    [charge(newId("pay"), 1_000), "WAL_002"],
    [charge(from.walletId, 999), "CHG_001"],
    [charge(from.walletId, 1_000, tooLong), "REQ_001"],
    [transfer(from.walletId, `0x${"0".repeat(40)}`, 1_000), "TRF_002"],
    [pay(from.walletId, newId("wal"), 99), "PAY_002"],
    [cancelPayment(newId("chg")), "PAY_004"],
    [refundPayment(newId("chg"), 1), "PAY_004"],
    [refundPayment(newId("pay"), 0), "REQ_001"],
    [cancelCharge(newId("pay")), "CHG_002"],
  ];
  for (const [command, code] of refused) expect(await refusalOf(command)).toBe(code);
  expect(await readJournal(world)).toHaveLength(before);
});

test("commands are counted by kind and outcome", async () => {
  const before = await world.metric("payment_commands_total");
  const { walletId } = await world.openWallet();
  await world.execute(charge(walletId, 1_000), "counted");
  await world.execute(charge(walletId, 1_000), "counted");
  expect(await refusalOf(charge(newId("wal"), 1_000))).toBe("WAL_002");
  expect((await world.metric("payment_commands_total")) - before).toBe(3);
});

function read(paymentId: string) {
  return world.app().getPayment({ orgId: world.orgId, id: paymentId });
}

/** The code, whether the form was refused or the ledger refused. */
async function refusalOf(command: Command): Promise<string> {
  try {
    return valueOf(await world.execute(command), "error").code;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
