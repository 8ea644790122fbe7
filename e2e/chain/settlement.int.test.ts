import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { readChain } from "./support/audit";
import { NO_LIMIT, openBook, readOperations, type TestWallet, untilSettled } from "./support/book";
import { openWorld, type World } from "./support/world";

let world: World;

beforeAll(async () => {
  world = await openWorld({ relayers: 1 });
  world.node.run(250);
}, 240_000);
afterAll(() => world.close(), 120_000);

test("every kind of movement settles with hash and block, also across a restart, and chain equals ledger", async () => {
  const book = openBook(world);
  const payer = await book.openWallet("payer");
  const incentive = await book.openWallet("payer", WalletType.INCENTIVE);
  const receiver = await book.openWallet("receiver");
  const outside = "0x00000000000000000000000000000000000A11CE";

  await book.post("chg", { $case: "charge", value: { walletId: payer.walletId, amountWon: "50000" } });
  await book.post("opn", { $case: "charge", value: { walletId: incentive.walletId, amountWon: "700" } });
  const paymentId = await book.post("pay", {
    $case: "payment",
    value: {
      payerWalletId: payer.walletId,
      receiverWalletId: receiver.walletId,
      amountWon: "20000",
      incentiveAmountWon: undefined,
      accrualRateBps: 100,
    },
  });
  const otherId = await book.post("pay", {
    $case: "payment",
    value: {
      payerWalletId: payer.walletId,
      receiverWalletId: receiver.walletId,
      amountWon: "9000",
      incentiveAmountWon: undefined,
      accrualRateBps: 777,
    },
  });
  await untilSettled(world, 4);
  await world.relayers[0]!.stop();
  await book.post("pcl", { $case: "cancelPayment", value: { paymentRequestId: paymentId } });
  for (const amountWon of ["2500", "6500"])
    await book.post("prf", { $case: "refundPayment", value: { paymentRequestId: otherId, amountWon } });
  const chargeId = await book.post("chg", {
    $case: "charge",
    value: { walletId: receiver.walletId, amountWon: "3000" },
  });
  await book.post("ccl", {
    $case: "cancelCharge",
    value: { chargeRequestId: chargeId, amountWon: "1000" },
  });
  await world.relayers[0]!.start();
  await book.post("rfd", { $case: "refund", value: { walletId: receiver.walletId } });
  const holdId = await book.post("hld", {
    $case: "placeHold",
    value: { walletId: payer.walletId, amountWon: "12345", dailyLimitWon: NO_LIMIT, toAddress: outside },
  });
  const settled = await untilSettled(world, 11);
  expect(settled.map(({ state }) => state)).toEqual(settled.map(() => "CONFIRMED"));
  for (const { tx_hash, block_hash, block_number } of settled) {
    const receipt = await world.node.rpc<{ blockHash: string; blockNumber: string; status: string }>(
      "eth_getTransactionReceipt",
      [tx_hash],
    );
    expect(receipt).toMatchObject({ blockHash: block_hash, status: "0x1" });
    expect(BigInt(receipt.blockNumber)).toBe(block_number);
  }

  await book.post("trf", { $case: "postHold", value: { holdRequestId: holdId } });
  await untilSettled(world, 12);
  expect(await book.differences()).toEqual([]);
  const chain = await readChain(world);
  expect(chain.balances.get(outside.toLowerCase())).toBe(12_345_000_000n);
  expect([...chain.executions.values()]).toEqual(settled.map(() => 1));
  expect((await readOperations(world)).filter(({ state }) => state === "PASSED")).toHaveLength(1);
}, 240_000);

test("the first transfers between new wallets succeed at the first attempt", async () => {
  const before = (await readOperations(world)).length;
  const book = openBook(world);
  const pairs: [TestWallet, TestWallet][] = [];
  for (let number = 0; number < 60; number += 1)
    pairs.push([await book.openWallet(`from-${number}`), await book.openWallet(`to-${number}`)]);
  await book.postMany(
    pairs.map(([{ walletId }]) => ({ $case: "charge", value: { walletId, amountWon: "3000" } })),
  );
  await untilSettled(world, before + 60);
  await book.postMany(
    pairs.map(([from, to]) => ({
      $case: "transfer",
      value: {
        ...{ fromWalletId: from.walletId, toWalletId: to.walletId },
        ...{ amountWon: "10", dailyLimitWon: NO_LIMIT },
      },
    })),
  );
  const settled = await untilSettled(world, before + 120);
  // A batch with too little gas would revert completely and be sent a second time.
  expect(settled.filter(({ attempts }) => attempts > 1)).toEqual([]);
}, 240_000);
