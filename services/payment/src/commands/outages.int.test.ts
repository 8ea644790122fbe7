import { randomUUID } from "node:crypto";
import { type Command, openWorld, type TestWallet, type World } from "./testing/world";

// What goes on while something is away, and what says at once that it cannot.

const none = { memo: undefined };
let world: World;

beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

const charge = (walletId: string): Command => ({
  $case: "charge",
  value: { walletId, amountWon: "1000", ...none },
});
const transfer = (from: TestWallet, toWalletAddress: string): Command => ({
  $case: "transfer",
  value: { fromWalletId: from.walletId, toWalletAddress, amountWon: "1000", ...none },
});
const pay = (from: TestWallet, to: TestWallet): Command => ({
  $case: "pay",
  value: {
    payerWalletId: from.walletId,
    receiverWalletId: to.walletId,
    amountWon: "1000",
    incentiveAmountWon: undefined,
    ...none,
  },
});

test("wallet and auth are away: what needs no new fact of them goes on, the rest is SYS_002 at once, and the key works later", async () => {
  const [one, two] = [await world.openWallet({ amountWon: 50_000 }), await world.openWallet()];
  const stranger = await world.openWallet();
  await world.execute(transfer(one, two.address));
  await world.execute(pay(one, two));
  await world.stop("wallet", "auth");

  const cancel: Command = {
    $case: "cancelCharge",
    value: { chargeId: one.chargeId, amountWon: "1000", ...none },
  };
  const refund: Command = { $case: "refund", value: { walletId: two.walletId, ...none } };
  for (const command of [charge(one.walletId), transfer(one, two.address), pay(one, two), cancel, refund])
    expect((await world.execute(command)).outcome?.$case).not.toBe("error");

  const key = randomUUID();
  // After a deadline that was waited for it would be SYS_003.
  await expect(world.execute(transfer(one, stranger.address), key)).rejects.toMatchObject({
    code: "SYS_002",
  });
  await world.crash();
  expect((await world.execute(transfer(one, stranger.address), key)).outcome?.$case).toBe("transfer");
  expect(await world.violations()).toEqual([]);
}, 60_000);

test("the ledger is away: SYS_002, nothing is done behind anybody's back, and the same key does it once", async () => {
  const { walletId } = await world.openWallet();
  await world.stop("ledger");
  const key = randomUUID();
  const code = await world.execute(charge(walletId), key).catch((error: { code: string }) => error.code);
  expect(["SYS_002", "SYS_003"]).toContain(code);
  await world.crash();
  if (code === "SYS_002") {
    await world.app().finishAbandoned();
    expect(await world.balances(walletId)).toEqual([0]);
  }
  await world.execute(charge(walletId), key);
  await world.execute(charge(walletId), key);
  expect(await world.balances(walletId)).toEqual([1_000]);
}, 60_000);
