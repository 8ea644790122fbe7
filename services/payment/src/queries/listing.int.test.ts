import { randomUUID } from "node:crypto";
import { readPage } from "@wonrail/kit/page";
import { Direction, SettlementStatus } from "@wonrail/proto/payment/v1/payment";
import { DepositCredited, OperationConfirmed } from "@wonrail/proto/relayer/events/v1/events";
import { isId, newId } from "@wonrail/kit/contract/ids";
import { deliver } from "../commands/testing/events";
import {
  type Command,
  openWorld,
  OUTSIDE,
  type TestWallet,
  valueOf,
  type World,
} from "../commands/testing/world";

let world: World;
let payer: TestWallet;
let receiver: TestWallet;
let paymentId: string;
let transferIds: string[];

const NETWORK = "WON_TESTNET";
const HASH = `0x${"c".repeat(64)}`;

beforeAll(async () => {
  world = await openWorld();
  payer = await world.openWallet({ amountWon: 20_000 });
  receiver = await world.openWallet();
  await world.openWallet({ type: "INCENTIVE", userId: payer.userId, amountWon: 1_000 });
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  const paid = await world.execute({
    $case: "pay",
    value: { ...ids, amountWon: "3000", incentiveAmountWon: undefined, memo: "lunch" },
  });
  ({ paymentId } = valueOf(paid, "payment"));
  transferIds = [];
  for (const to of [receiver.address, receiver.address, OUTSIDE]) {
    const moved = await world.execute({
      $case: "transfer",
      value: { fromWalletId: payer.walletId, toWalletAddress: to, amountWon: "1000", memo: "rent" },
    });
    transferIds.push(valueOf(moved, "transfer").transferId);
  }
}, 60_000);
afterAll(() => world.close());

const list = (walletId: string, types: string[] = [], page?: Parameters<typeof readPage>[0]) =>
  world
    .app()
    .listWalletTransactions({ orgId: world.orgId, walletId, types, from: undefined, to: undefined, page });

test("the unified listing is newest first; the lines of one payment share its id", async () => {
  const { transactions } = await list(payer.walletId);
  expect(transactions.map(({ type, amountWon, direction }) => [type, amountWon, direction])).toEqual([
    ["TRANSFER", "1000", Direction.OUT],
    ["TRANSFER", "1000", Direction.OUT],
    ["PAYMENT", "2000", Direction.OUT],
    ["CHARGE", "20000", Direction.IN],
  ]);
  expect(transactions[2]).toMatchObject({
    relatedId: paymentId,
    transactionId: expect.stringMatching(/^jrn_[0-9a-f]{32}-2$/),
    memo: "lunch",
    counterparty: receiver.walletId,
  });
  const incentive = await world.openWallet({ type: "INCENTIVE", userId: "another" });
  expect((await list(incentive.walletId)).transactions).toEqual([]);
});

test("a line of any of the ten types names who stands at its other end: nobody, where money is minted or burnt", async () => {
  const [normal, shop] = [await world.openWallet({ amountWon: 20_000 }), await world.openWallet()];
  const incentive = await world.openWallet({ type: "INCENTIVE", userId: normal.userId, amountWon: 1_000 });
  const ids = { payerWalletId: normal.walletId, receiverWalletId: shop.walletId };
  const memo = undefined;
  const value = { ...ids, amountWon: "5000", incentiveAmountWon: undefined, memo };
  const { paymentId: paid } = valueOf(await world.execute({ $case: "pay", value }), "payment");
  await world.execute({ $case: "cancelPayment", value: { paymentId: paid, memo } });
  const sent = {
    fromWalletId: normal.walletId,
    toWalletAddress: shop.address,
    amountWon: "2000",
    memo,
  };
  await world.execute({ $case: "transfer", value: sent });
  const { chargeId } = normal;
  await world.execute({ $case: "cancelCharge", value: { chargeId, amountWon: "8000", memo } });
  await world.execute({ $case: "refund", value: { walletId: normal.walletId, memo } });

  const counterparties = async ({ walletId }: TestWallet) =>
    (await list(walletId)).transactions.map(({ type, counterparty }) => [type, counterparty]);
  expect(await counterparties(normal)).toEqual([
    ["REFUND", undefined],
    ["CHARGE_CANCEL", undefined],
    ["TRANSFER", shop.walletId],
    ["PAYMENT_CANCEL", shop.walletId],
    ["PAYMENT", shop.walletId],
    ["CHARGE", undefined],
  ]);
  expect(await counterparties(incentive)).toEqual([
    ["INCENTIVE_CANCEL", undefined],
    ["INCENTIVE_USE_CANCEL", shop.walletId],
    ["INCENTIVE", undefined],
    ["INCENTIVE_USE", shop.walletId],
    ["CHARGE", undefined],
  ]);
  expect(await counterparties(shop)).toEqual([
    ["TRANSFER", normal.walletId],
    ["PAYMENT_CANCEL", incentive.walletId],
    ["PAYMENT", incentive.walletId],
  ]);
});

test("a line that takes something back names the cancellation, so that a charge's parts are told apart", async () => {
  const wallet = await world.openWallet({ amountWon: 5_000 });
  const value = { chargeId: wallet.chargeId, amountWon: "1000", memo: undefined };
  const parts = [];
  for (const _ of ["first", "second"])
    parts.push(valueOf(await world.execute({ $case: "cancelCharge", value }), "cancelledCharge").cancelId);
  const { transactions } = await list(wallet.walletId);
  expect(transactions.map(({ type, cancelId }) => [type, cancelId])).toEqual([
    ["CHARGE_CANCEL", parts[1]],
    ["CHARGE_CANCEL", parts[0]],
    ["CHARGE", undefined],
  ]);
});

test("it can be asked for several types, and refuses one that there is not, naming the ten", async () => {
  const { transactions } = await list(payer.walletId, ["CHARGE", "PAYMENT"]);
  expect(transactions.map(({ type }) => type)).toEqual(["PAYMENT", "CHARGE"]);
  const refused = list(payer.walletId, ["GIFT"]);
  await expect(refused).rejects.toMatchObject({
    code: "REQ_001",
    details: { fields: [{ path: "type", message: expect.stringContaining("INCENTIVE_USE_CANCEL") }] },
  });
});

test("an outside transfer is a line once it is posted, with its address and the chain's word", async () => {
  const transferId = transferIds[2]!;
  const word = { ledgerRef: transferId, network: NETWORK, txHash: HASH, blockNumber: 12n };
  const payload = OperationConfirmed.encode(OperationConfirmed.fromPartial(word)).finish();
  await deliver(world, "operation_confirmed", payload);
  await world.app().settleTransfers();
  expect((await list(payer.walletId)).transactions[0]).toMatchObject({
    type: "TRANSFER",
    relatedId: transferId,
    counterparty: OUTSIDE,
    memo: "rent",
    settlement: { status: SettlementStatus.CONFIRMED, txHash: HASH, blockNumber: 12n },
  });
});

test("what takes something back is on its own way on the chain", async () => {
  const { walletId, chargeId } = await world.openWallet({ amountWon: 2_000 });
  const word = { ledgerRef: chargeId, network: NETWORK, txHash: HASH, blockNumber: 12n };
  const payload = OperationConfirmed.encode(OperationConfirmed.fromPartial(word)).finish();
  await deliver(world, "operation_confirmed", payload);
  await world.execute({ $case: "cancelCharge", value: { chargeId, amountWon: undefined, memo: undefined } });
  expect((await list(walletId)).transactions.map(({ settlement }) => settlement!.status)).toEqual([
    SettlementStatus.PENDING,
    SettlementStatus.CONFIRMED,
  ]);
});

test("a deposit shows where it came from, once its event has come", async () => {
  const requestId = newId("opn");
  const value = { walletId: receiver.walletId, amountWon: "700", chainLogId: `31337/${HASH}/${HASH}/0` };
  await world.ledger().post({
    context: { orgId: world.orgId, requestId: "", traceparent: "" },
    requestId,
    memo: undefined,
    relatedId: undefined,
    requestedAt: undefined,
    intent: { $case: "creditExternal", value },
  });
  const word = {
    ledgerRef: requestId,
    network: NETWORK,
    txHash: HASH,
    blockNumber: 12n,
    fromAddress: OUTSIDE.toLowerCase(),
  };
  await deliver(
    world,
    "deposit_credited",
    DepositCredited.encode(DepositCredited.fromPartial(word)).finish(),
  );
  expect((await list(receiver.walletId)).transactions[0]).toMatchObject({
    direction: Direction.IN,
    amountWon: "700",
    counterparty: OUTSIDE,
    settlement: { status: SettlementStatus.CONFIRMED },
  });
});

test("each list of records holds both sides of a wallet, page by page, and another organisation's nothing", async () => {
  const { app, orgId } = world;
  const page = (cursor?: string) =>
    readPage(
      cursor === undefined ? { limit: 2 } : { limit: 2, position: { $case: "cursor", value: cursor } },
      (key) => isId("trf", key),
    );
  const first = await app().listTransfers({ orgId, walletId: payer.walletId, page: page() });
  const second = await app().listTransfers({
    orgId,
    walletId: payer.walletId,
    page: page(first.info.nextCursor),
  });
  expect([...first.items, ...second.items].map(({ transferId }) => transferId)).toEqual(
    [...transferIds].reverse(),
  );
  expect(second.info.nextCursor).toBeUndefined();
  const received = await app().listTransfers({ orgId, walletId: receiver.walletId, page: page() });
  expect([received.items.length, received.info.totalCount]).toEqual([2, 2]);
  const paid = await app().listPayments({ orgId, walletId: receiver.walletId, page: page() });
  expect(paid.items.map((item) => item.paymentId)).toEqual([paymentId]);
  const charged = await app().listCharges({ orgId, walletId: payer.walletId, page: page() });
  expect(charged.items).toHaveLength(1);
  const stranger = { orgId: newId("org"), walletId: null, page: page() };
  const nothing = { items: [], info: { totalCount: 0 } };
  expect(await app().listTransfers(stranger)).toMatchObject(nothing);
  expect(await app().listPayments(stranger)).toMatchObject(nothing);
  expect(await app().listCharges(stranger)).toMatchObject(nothing);
  const ofStranger = (id: string) => ({ orgId: stranger.orgId, id });
  await expect(app().getPayment(ofStranger(paymentId))).rejects.toMatchObject({ code: "PAY_004" });
  await expect(app().getCharge(ofStranger(payer.chargeId))).rejects.toMatchObject({ code: "CHG_002" });
  const { walletId } = await world.openWallet({ amountWon: 1_000 });
  const refunded = await world.execute({ $case: "refund", value: { walletId, memo: undefined } });
  const { refundId } = valueOf(refunded, "refund");
  await expect(app().getRefund(ofStranger(refundId))).rejects.toMatchObject({ code: "CHG_002" });
  await expect(app().getTransfer(ofStranger(transferIds[0]!))).rejects.toMatchObject({ code: "TRF_005" });
});

test("what is done long after it was first asked for stands where that was, and a walk by cursor finds it once", async () => {
  const { walletId } = await world.openWallet();
  const charge: Command = { $case: "charge", value: { walletId, amountWon: "1000", memo: undefined } };
  const key = randomUUID();
  await world.stop("ledger");
  await expect(world.execute(charge, key)).rejects.toMatchObject({ code: "SYS_002" });
  await world.crash();
  const later = [await world.execute(charge), await world.execute(charge)].map(chargeIdOf);
  const first = chargeIdOf(await world.execute(charge, key));
  const walk = async (after: string | null) => {
    const page = { limit: 2, offset: 0, after };
    return (await world.app().listCharges({ orgId: world.orgId, walletId, page })).items;
  };
  const newest = await walk(null);
  expect(newest.map(({ chargeId }) => chargeId)).toEqual([...later].reverse());
  const [oldest, ...none] = await walk(later[0]!);
  expect([oldest!.chargeId, none]).toEqual([first, []]);
  expect(oldest!.createdAt!.getTime()).toBeGreaterThan(newest[0]!.createdAt!.getTime());
});

function chargeIdOf(answer: Awaited<ReturnType<World["execute"]>>): string {
  return valueOf(answer, "charge").chargeId;
}
