import { readPage } from "@wonrail/kit/page";
import { Direction, SettlementStatus } from "@wonrail/proto/payment/v1/payment";
import { isId, newId } from "@wonrail/kit/contract/ids";
import { catchUp, confirmed, deliver, depositCredited, HASH } from "../commands/testing/events";
import { cancelCharge, cancelPayment, pay, refund, transfer } from "../commands/testing/commands";
import { openWorld, OUTSIDE, type TestWallet, valueOf, type World } from "../commands/testing/world";

let world: World;
let payer: TestWallet;
let receiver: TestWallet;
let paymentId: string;
let transferIds: string[];

beforeAll(async () => {
  world = await openWorld();
  payer = await world.openWallet({ amountWon: 20_000 });
  receiver = await world.openWallet();
  await world.openWallet({ type: "INCENTIVE", userId: payer.userId, amountWon: 1_000 });
  const paid = await world.execute(pay(payer.walletId, receiver.walletId, 3_000, { memo: "lunch" }));
  ({ paymentId } = valueOf(paid, "payment"));
  transferIds = [];
  for (const to of [receiver.address, receiver.address, OUTSIDE]) {
    const moved = await world.execute(transfer(payer.walletId, to, 1_000, { memo: "rent" }));
    transferIds.push(valueOf(moved, "transfer").transferId);
  }
  await catchUp(world);
}, 60_000);
afterAll(() => world.close());

const list = (walletId: string, types: string[] = [], page?: Parameters<typeof readPage>[0]) =>
  world
    .app()
    .listWalletTransactions({ orgId: world.orgId, walletId, types, from: undefined, to: undefined, page });

test("a wallet's transactions are newest first, and the lines of one payment share its id", async () => {
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

test("each of the ten types names its counterparty, and minted or burnt money has none", async () => {
  const [normal, shop] = [await world.openWallet({ amountWon: 20_000 }), await world.openWallet()];
  const incentive = await world.openWallet({ type: "INCENTIVE", userId: normal.userId, amountWon: 1_000 });
  const paid = await world.execute(pay(normal.walletId, shop.walletId, 5_000));
  await world.execute(cancelPayment(valueOf(paid, "payment").paymentId));
  await world.execute(transfer(normal.walletId, shop.address, 2_000));
  await world.execute(cancelCharge(normal.chargeId, 8_000));
  await world.execute(refund(normal.walletId));

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

test("a wallet's statement has the lines of its list, oldest first, and ends with its balance", async () => {
  const period = { from: new Date(0), to: new Date(Date.now() + 60_000) };
  const page = { entries: undefined, limit: 1_000, walletId: payer.walletId };
  const statement = await world.app().readStatement({ orgId: world.orgId, ...period, ...page });
  const listed = (await list(payer.walletId, [], { limit: 100 })).transactions;
  expect(statement.transactions).toEqual(listed.reverse());
  const [balance] = await world.balances(payer.walletId);
  expect([statement.openingBalanceWon, Number(statement.closingBalanceWon)]).toEqual(["0", balance]);
});

test("the line of a cancellation carries the cancellation's id", async () => {
  const wallet = await world.openWallet({ amountWon: 5_000 });
  const cancel = async () =>
    valueOf(await world.execute(cancelCharge(wallet.chargeId, 1_000)), "cancelledCharge").cancellation!;
  const parts = [(await cancel()).cancelId, (await cancel()).cancelId];
  const { transactions } = await list(wallet.walletId);
  expect(transactions.map(({ type, cancelId }) => [type, cancelId])).toEqual([
    ["CHARGE_CANCEL", parts[1]],
    ["CHARGE_CANCEL", parts[0]],
    ["CHARGE", undefined],
  ]);
});

test("transactions are filtered by several types, and an unknown type is refused with the ten names", async () => {
  const { transactions } = await list(payer.walletId, ["CHARGE", "PAYMENT"]);
  expect(transactions.map(({ type }) => type)).toEqual(["PAYMENT", "CHARGE"]);
  const refused = list(payer.walletId, ["GIFT"]);
  await expect(refused).rejects.toMatchObject({
    code: "REQ_001",
    details: { fields: [{ path: "type", message: expect.stringContaining("INCENTIVE_USE_CANCEL") }] },
  });
});

test("a posted outside transfer is a line with its address and its settlement", async () => {
  const transferId = transferIds[2]!;
  await deliver(world, confirmed(transferId));
  await world.app().settleTransfers();
  expect((await list(payer.walletId)).transactions[0]).toMatchObject({
    type: "TRANSFER",
    relatedId: transferId,
    counterparty: OUTSIDE,
    memo: "rent",
    settlement: { status: SettlementStatus.CONFIRMED, txHash: HASH, blockNumber: 3n },
  });
});

test("a cancellation's line has its own settlement", async () => {
  const { walletId, chargeId } = await world.openWallet({ amountWon: 2_000 });
  await deliver(world, confirmed(chargeId));
  await world.execute(cancelCharge(chargeId));
  expect((await list(walletId)).transactions.map(({ settlement }) => settlement!.status)).toEqual([
    SettlementStatus.PENDING,
    SettlementStatus.CONFIRMED,
  ]);
});

test("a deposit shows its sender once chain-relayer's event has arrived", async () => {
  const requestId = newId("opn");
  const value = { walletId: receiver.walletId, amountWon: "700", chainLogId: `31337/${HASH}/${HASH}/0` };
  await world.ledger().post({
    context: { orgId: world.orgId, requestId: "", traceparent: "" },
    requestId,
    metadata: {},
    intent: { $case: "creditExternal", value },
  });
  await deliver(world, depositCredited(requestId, OUTSIDE.toLowerCase()));
  expect((await list(receiver.walletId)).transactions[0]).toMatchObject({
    direction: Direction.IN,
    amountWon: "700",
    counterparty: OUTSIDE,
    settlement: { status: SettlementStatus.CONFIRMED },
  });
});

test("the list of the organisation has every type once, with its wallet, reference and settlement", async () => {
  const own = await openWorld();
  try {
    const [normal, shop] = [await own.openWallet({ amountWon: 20_000 }), await own.openWallet()];
    const incentive = await own.openWallet({ type: "INCENTIVE", userId: normal.userId, amountWon: 1_000 });
    const order = { reference: "order-1" };
    const paid = await own.execute(pay(normal.walletId, shop.walletId, 5_000, order));
    await own.execute(cancelPayment(valueOf(paid, "payment").paymentId));
    await own.execute(transfer(normal.walletId, shop.address, 2_000));
    await own.execute(cancelCharge(normal.chargeId, 8_000));
    await own.execute(refund(normal.walletId));
    await deliver(own, confirmed(normal.chargeId));
    const read = async (
      wanted: Partial<Parameters<ReturnType<World["app"]>["listTransactions"]>[0]> = {},
      request: Parameters<typeof readPage>[0] = { limit: 100 },
    ) =>
      own.app().listTransactions({
        ...{ orgId: own.orgId, types: [], status: undefined, filter: undefined, ...wanted },
        page: readPage(request, (key) => /^\d+\.\d+$/.test(key)),
      });
    const { transactions, page } = await read();
    expect(page).toEqual({ hasNext: false, nextCursor: undefined, totalCount: undefined });
    expect(new Set(transactions.map(({ type }) => type))).toEqual(
      new Set([
        ...["TRANSFER", "CHARGE", "CHARGE_CANCEL", "PAYMENT", "PAYMENT_CANCEL", "REFUND"],
        ...["INCENTIVE", "INCENTIVE_USE", "INCENTIVE_CANCEL", "INCENTIVE_USE_CANCEL"],
      ]),
    );
    // The balance of each wallet is the sum of its lines.
    const sums = new Map<string, number>();
    for (const { walletId, direction, amountWon } of transactions)
      sums.set(
        walletId,
        (sums.get(walletId) ?? 0) + Number(amountWon) * (direction === Direction.IN ? 1 : -1),
      );
    const wallets = [normal, shop, incentive].map(({ walletId }) => walletId);
    expect(wallets.map((walletId) => sums.get(walletId))).toEqual(await own.balances(...wallets));
    const referred = await read({ filter: order });
    expect(new Set(referred.transactions.map(({ type }) => type))).toEqual(
      new Set(["PAYMENT", "INCENTIVE_USE", "INCENTIVE"]),
    );
    const settled = await read({ filter: { settlementStatus: SettlementStatus.CONFIRMED } });
    expect(settled.transactions.map(({ relatedId }) => relatedId)).toEqual([normal.chargeId]);
    await catchUp(own);
    for (const [status, relatedId] of [
      ["CANCELLED", valueOf(paid, "payment").paymentId],
      ["PARTIALLY_CANCELLED", normal.chargeId],
    ] as const) {
      const wanted = (await read()).transactions.filter((line) => line.relatedId === relatedId);
      expect(wanted.length).toBeGreaterThan(1);
      expect((await read({ status })).transactions).toEqual(wanted);
    }
    const completed = (await read({ status: "COMPLETED" })).transactions;
    expect(completed.map(({ type }) => type)).toEqual(["REFUND", "TRANSFER", "TRANSFER"]);
    const ids = (found: typeof transactions) => found.map(({ transactionId }) => transactionId);
    const second = await read({}, { limit: 4, position: { $case: "currentPage", value: 2 } });
    expect(ids(second.transactions)).toEqual(ids(transactions).slice(4, 8));
    const oldest = await read({}, { limit: 4, oldestFirst: true });
    const oldestFirst = ids(transactions).reverse();
    expect(ids(oldest.transactions)).toEqual(oldestFirst.slice(0, 4));
    const position = { $case: "cursor", value: oldest.page.nextCursor! } as const;
    const next = await read({}, { limit: 4, oldestFirst: true, position });
    expect(ids(next.transactions)).toEqual(oldestFirst.slice(4, 8));
  } finally {
    await own.close();
  }
}, 60_000);

test("the balance at a time is that of the newest line before it, and a future time is refused", async () => {
  const { walletId } = await world.openWallet({ amountWon: 3_000 });
  const { transactions } = await list(walletId);
  const at = (time?: Date) => world.app().getBalanceAt({ orgId: world.orgId, walletId, at: time });
  const charged = transactions[0]!.createdAt!;
  expect((await at(charged)).balanceWon).toBe("0");
  expect((await at(new Date(charged.getTime() + 1))).balanceWon).toBe("3000");
  expect((await at()).balanceWon).toBe("3000");
  await expect(at(new Date(Date.now() + 60_000))).rejects.toMatchObject({ code: "REQ_001" });
  const foreign = world.app().getBalanceAt({ orgId: newId("org"), walletId, at: undefined });
  await expect(foreign).rejects.toMatchObject({ code: "WAL_002" });
});

test("lists hold both sides of a wallet, in pages, and no other organisation's lines", async () => {
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
  const refunded = await world.execute(refund(walletId));
  const { refundId } = valueOf(refunded, "refund");
  await expect(app().getRefund(ofStranger(refundId))).rejects.toMatchObject({ code: "CHG_002" });
  await expect(app().getTransfer(ofStranger(transferIds[0]!))).rejects.toMatchObject({ code: "TRF_005" });
});
