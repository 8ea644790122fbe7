import { randomUUID } from "node:crypto";
import { rawSql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { OrganisationChanged } from "@wonrail/proto/auth/events/v1/events";
import {
  ChargeStatus,
  PaymentStatus,
  SettlementStatus,
  TransferStatus,
} from "@wonrail/proto/payment/v1/payment";
import {
  OperationConfirmed,
  OperationFailed,
  OperationSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { deliver, published } from "./testing/events";
import { asOwner, type Command, openWorld, OUTSIDE, requestOf, valueOf, type World } from "./testing/world";

// Each money flow from the command to the record: claimed, posted by a real ledger, written down, told of once.

let world: World;
// Whoever keeps the function keeps this one.
const clock = jest.spyOn(Date, "now");
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterEach(async () => expect(await world.violations()).toEqual([]));
afterAll(() => world.close());

const none = { memo: undefined };
const charge = (walletId: string, amount: number): Command => ({
  $case: "charge",
  value: { walletId, amountWon: String(amount), ...none },
});
const transfer = (fromWalletId: string, toWalletAddress: string, amount: number): Command => ({
  $case: "transfer",
  value: { fromWalletId, toWalletAddress, amountWon: String(amount), ...none },
});
const pay = (
  payerWalletId: string,
  receiverWalletId: string,
  amount: number,
  incentive?: number,
): Command => ({
  $case: "pay",
  value: {
    payerWalletId,
    receiverWalletId,
    amountWon: String(amount),
    incentiveAmountWon: incentive === undefined ? undefined : String(incentive),
    ...none,
  },
});

describe("one command after the other", () => {
  test("a charge mints, and its parts are cancelled up to its amount", async () => {
    const { walletId } = await world.openWallet();
    const made = valueOf(await world.execute(charge(walletId, 5_000)), "charge");
    expect(made).toMatchObject({ status: ChargeStatus.CHARGED, balanceWon: "5000", cancelledAmountWon: "0" });
    const cancel = (amountWon?: string): Command => ({
      $case: "cancelCharge",
      value: { chargeId: made.chargeId, amountWon, ...none },
    });
    const part = valueOf(await world.execute(cancel("2000")), "cancelledCharge");
    expect(part.charge).toMatchObject({
      status: ChargeStatus.PARTIALLY_CANCELLED,
      cancelledAmountWon: "2000",
    });
    await expect(refusalOf(cancel("3001"))).resolves.toBe("CHG_005");
    const rest = valueOf(await world.execute(cancel()), "cancelledCharge");
    expect(rest.charge).toMatchObject({ status: ChargeStatus.CANCELLED, cancelledAmountWon: "5000" });
    await expect(refusalOf(cancel())).resolves.toBe("CHG_003");
    expect(await world.balances(walletId)).toEqual([0]);
    expect(await published(world, made.chargeId)).toEqual([
      "charge_completed 1",
      "charge_cancelled 2",
      "charge_cancelled 3",
    ]);
  });

  test("a refund empties a NORMAL wallet", async () => {
    const { walletId } = await world.openWallet({ amountWon: 7_000 });
    const refund: Command = { $case: "refund", value: { walletId, ...none } };
    const { refundId, amountWon } = valueOf(await world.execute(refund), "refund");
    expect([amountWon, await world.balances(walletId)]).toEqual(["7000", [0]]);
    expect(await published(world, refundId)).toEqual(["refund_completed 1"]);
    await expect(refusalOf(refund)).resolves.toBe("CHG_007");
  });

  test("a transfer between the organisation's wallets is complete at once", async () => {
    const [from, to] = [await world.openWallet({ amountWon: 3_000 }), await world.openWallet()];
    const answer = await world.execute(transfer(from.walletId, to.address.toLowerCase(), 1_000));
    const made = valueOf(answer, "transfer");
    expect(made).toMatchObject({
      status: TransferStatus.COMPLETED,
      toWalletId: to.walletId,
      toWalletAddress: to.address,
    });
    expect(await world.balances(from.walletId, to.walletId)).toEqual([2_000, 1_000]);
    expect(await published(world, made.transferId)).toEqual(["transfer_completed 1"]);
  });

  test("a payment takes the INCENTIVE balance, then NORMAL, accrues on NORMAL, and is taken back whole, once", async () => {
    const [payer, receiver] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
    const incentive = await world.openWallet({ type: "INCENTIVE", userId: payer.userId, amountWon: 1_000 });
    const wallets = [payer.walletId, incentive.walletId, receiver.walletId];
    const made = valueOf(await world.execute(pay(payer.walletId, receiver.walletId, 4_000)), "payment");
    expect(made).toMatchObject({
      status: PaymentStatus.PAID,
      breakdown: { governmentWon: "0", incentiveWon: "1000", normalWon: "3000" },
      incentiveAccruedWon: "150",
    });
    expect(await world.balances(...wallets)).toEqual([7_000, 150, 4_000]);
    const cancel: Command = { $case: "cancelPayment", value: { paymentId: made.paymentId, ...none } };
    expect(valueOf(await world.execute(cancel), "cancelledPayment")).toMatchObject({
      payment: { status: PaymentStatus.CANCELLED },
      restoredIncentiveWon: "1000",
      restoredNormalWon: "3000",
      incentiveClawedBackWon: "150",
      keptFromNormalWon: "0",
    });
    expect(await world.balances(...wallets)).toEqual([10_000, 1_000, 0]);
    await expect(refusalOf(cancel)).resolves.toBe("PAY_003");
    expect(await published(world, made.paymentId)).toEqual(["payment_completed 1", "payment_cancelled 2"]);
  });
});

describe("a key", () => {
  test("has one effect, one answer and one event, however often it comes at once", async () => {
    const { walletId } = await world.openWallet();
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.execute(charge(walletId, 1_000), key)),
    );
    const ids = new Set(answers.map((answer) => valueOf(answer, "charge").chargeId));
    expect(ids.size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await world.balances(walletId)).toEqual([1_000]);
    expect(await published(world, [...ids][0]!)).toEqual(["charge_completed 1"]);
    expect(await world.execute(charge(walletId, 1_000), key)).toMatchObject({ replayed: true });
  });

  test("that may only be repeated begins nothing, and is answered or brought to its end", async () => {
    const { walletId } = await world.openWallet();
    const [key, unused] = [randomUUID(), randomUUID()];
    const repeat = (of?: string) =>
      world.app().execute({ ...requestOf(world.orgId, charge(walletId, 1_000), of), repeatOnly: true });
    for (const other of [unused, undefined])
      await expect(repeat(other)).rejects.toMatchObject({ code: "WAUTH_004" });
    await world.execute(charge(walletId, 1_000), key);
    expect(await repeat(key)).toMatchObject({ replayed: true });
    await world.stop("ledger");
    const open = randomUUID();
    await expect(world.execute(charge(walletId, 1_000), open)).rejects.toBeDefined();
    await world.crash();
    const nowIs = (state: string) =>
      asOwner(world.payment, `update operations set state = '${state}' where idempotency_key = '${open}'`);
    await nowIs("RELEASED");
    await expect(repeat(open)).rejects.toMatchObject({ code: "WAUTH_004" });
    await nowIs("CLAIMED");
    expect(await repeat(open)).toMatchObject({ outcome: { $case: "charge" } });
    expect(await world.balances(walletId)).toEqual([2_000]);
  });

  test("with another body is REQ_003, and the same key of another command is another key", async () => {
    const { walletId, chargeId } = await world.openWallet({ amountWon: 5_000 });
    const key = randomUUID();
    await world.execute(charge(walletId, 1_000), key);
    await expect(world.execute(charge(walletId, 1_001), key)).rejects.toMatchObject({ code: "REQ_003" });
    const cancel: Command = { $case: "cancelCharge", value: { chargeId, amountWon: "500", ...none } };
    expect(valueOf(await world.execute(cancel, key), "cancelledCharge").charge?.cancelledAmountWon).toBe(
      "500",
    );
    expect(await world.balances(walletId)).toEqual([5_500]);
  });

  test("keeps a refusal: what was refused once is not done when there is money later", async () => {
    const [from, to] = [await world.openWallet(), await world.openWallet()];
    const key = randomUUID();
    const move = transfer(from.walletId, to.address, 1_000);
    expect(valueOf(await world.execute(move, key), "error").code).toBe("TRF_001");
    await world.execute(charge(from.walletId, 5_000));
    expect(await world.execute(move, key)).toMatchObject({
      replayed: true,
      outcome: { $case: "error", value: { code: "TRF_001" } },
    });
    expect(await world.balances(from.walletId)).toEqual([5_000]);
  });

  test("is forgotten after 32 days, never while its outcome is open, and what it made stays", async () => {
    const { walletId } = await world.openWallet();
    const key = randomUUID();
    const { chargeId } = valueOf(await world.execute(charge(walletId, 1_000), key), "charge");
    const forget = async (nowMs = Date.now() + 33 * 86_400_000) => {
      const clock = jest.spyOn(Date, "now").mockReturnValue(nowMs);
      await world.app().deleteOldOperations(new AbortController().signal);
      clock.mockRestore();
    };
    await asOwner(
      world.payment,
      `update operations set created_at = now() - interval '40 days', updated_at = now() - interval '31 days 23 hours'`,
    );
    await forget();
    expect(await world.execute(charge(walletId, 1_000), key)).toMatchObject({ replayed: true });
    await asOwner(world.payment, `update operations set updated_at = now() - interval '32 days 1 hour'`);
    await forget();
    expect(await world.execute(charge(walletId, 1_000), key)).toMatchObject({ replayed: false });
    const found = await world.app().getCharge({ orgId: world.orgId, id: chargeId });
    expect(found.charge.chargeId).toBe(chargeId);
  });
});

describe("a transfer to an outside address", () => {
  const network = "WON_TESTNET";
  const txHash = `0x${"a".repeat(64)}`;

  async function held(amount = 1_000) {
    const { walletId } = await world.openWallet({ amountWon: 5_000 });
    const made = valueOf(await world.execute(transfer(walletId, OUTSIDE, amount)), "transfer");
    expect(made.status).toBe(TransferStatus.PENDING);
    return { walletId, transferId: made.transferId };
  }
  const read = (id: string) => world.app().getTransfer({ orgId: world.orgId, id });
  const confirmed = (ledgerRef: string) =>
    OperationConfirmed.encode(
      OperationConfirmed.fromPartial({ ledgerRef, network, txHash, blockNumber: 7n }),
    ).finish();

  test("is held, follows the chain, and is posted when that is final; a word that comes twice or late changes nothing", async () => {
    const { walletId, transferId } = await held();
    const submitted = OperationSubmitted.fromPartial({ ledgerRef: transferId, network, txHash });
    await deliver(world, "operation_submitted", OperationSubmitted.encode(submitted).finish());
    await world.app().settleTransfers();
    expect(await read(transferId)).toMatchObject({
      status: TransferStatus.PENDING,
      settlement: { status: SettlementStatus.SUBMITTED },
    });
    await deliver(world, "operation_confirmed", confirmed(transferId));
    await deliver(world, "operation_confirmed", confirmed(transferId));
    await Promise.all([world.app().settleTransfers(), world.app().settleTransfers()]);
    await deliver(world, "operation_submitted", OperationSubmitted.encode(submitted).finish());
    expect(await read(transferId)).toMatchObject({
      status: TransferStatus.COMPLETED,
      settlement: { status: SettlementStatus.CONFIRMED, txHash, blockNumber: 7n },
    });
    expect(await world.balances(walletId)).toEqual([4_000]);
    expect(await published(world, transferId)).toEqual([
      "transfer_held 1",
      "settlement_changed 0",
      "settlement_changed 0",
      "transfer_completed 2",
    ]);
  });

  test("gets its money and its day's limit back on the relayer's proof, and says why", async () => {
    const { walletId, transferId } = await held(4_000);
    const failed = OperationFailed.fromPartial({
      ledgerRef: transferId,
      network,
      reason: "the authorization expired unused",
      proofBlockNumber: 9n,
      proofBlockHash: txHash,
    });
    await deliver(world, "operation_failed", OperationFailed.encode(failed).finish());
    await world.app().settleTransfers();
    expect(await read(transferId)).toMatchObject({
      status: TransferStatus.FAILED,
      failureReason: "the authorization expired unused",
      settlement: { status: SettlementStatus.FAILED },
    });
    const { accounts } = await world.ledger().getBalances({ orgId: world.orgId, accountIds: [walletId] });
    expect(accounts[0]).toMatchObject({ availableWon: "5000", transferredTodayWon: "0" });
    expect((await published(world, transferId)).at(-1)).toBe("transfer_failed 2");
  });
});

test("a payment that known facts forbid leaves no wallet behind; the first that may be makes the payer's INCENTIVE wallet", async () => {
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
    expect([code, await refusalOf(pay(from, to, 1_000, incentive))]).toEqual([code, code]);
    expect([code, await walletIds()]).toEqual([code, before]);
  }
  valueOf(await world.execute(pay(payer.walletId, receiver.walletId, 1_000)), "payment");
  expect(await walletIds()).toHaveLength(before.length + 1);
});

test("a new policy of the organisation is in force after a moment, and an older event does not bring the old one back", async () => {
  const [from, to] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
  const policy = (limit: string, version: bigint) =>
    OrganisationChanged.encode(
      OrganisationChanged.fromPartial({
        organisation: { orgId: world.orgId, dailyTransferLimitWon: limit, incentiveRateBps: 1_000, version },
      }),
    ).finish();
  await world.execute(transfer(from.walletId, to.address, 1));
  await deliver(world, "organisation_changed", policy("2000", 5n));
  await deliver(world, "organisation_changed", policy("9000", 4n));
  // Also when the clock is set back meanwhile.
  clock.mockImplementation(() => new Date().getTime() - 3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await expect(refusalOf(transfer(from.walletId, to.address, 2_000))).resolves.toBe("TRF_003");
  clock.mockImplementation(() => new Date().getTime());
  await world.execute(transfer(from.walletId, to.address, 1_999));
  const paid = valueOf(await world.execute(pay(from.walletId, to.walletId, 1_000)), "payment");
  expect(paid.incentiveAccruedWon).toBe("100");
  await deliver(world, "organisation_changed", policy("5000000", 6n));
});

test("a wallet of nobody, an id of another kind and a contract's address are refused before anything is written down", async () => {
  const from = await world.openWallet({ amountWon: 10_000 });
  const count = async () => (await world.payment.db.query(rawSql("select from operations"))).length;
  const before = await count();
  const refused: [Command, string][] = [
    [charge(newId("pay"), 1_000), "WAL_002"],
    [charge(from.walletId, 999), "CHG_001"],
    [transfer(from.walletId, `0x${"0".repeat(40)}`, 1_000), "TRF_002"],
    [pay(from.walletId, newId("wal"), 99), "PAY_002"],
    [{ $case: "cancelPayment", value: { paymentId: newId("chg"), ...none } }, "PAY_004"],
    [{ $case: "cancelCharge", value: { chargeId: newId("pay"), amountWon: undefined, ...none } }, "CHG_002"],
  ];
  for (const [command, code] of refused) await expect(refusalOf(command)).resolves.toBe(code);
  expect(await count()).toBe(before);
});

/** The code, whether it was refused at the door or by the ledger. */
async function refusalOf(command: Command): Promise<string> {
  try {
    return valueOf(await world.execute(command), "error").code;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
