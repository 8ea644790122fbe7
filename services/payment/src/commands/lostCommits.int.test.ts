import { randomUUID } from "node:crypto";
import { newId, idToUuid } from "@wonrail/kit/contract/ids";
import { doAt } from "./testing/failpoints";
import { asOwner, type Command, openWorld, type TestWallet, valueOf, type World } from "./testing/world";

// A stand-by takes over without the last commits, while payment lives on and remembers what is lost.

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.close());

test("a payer whose INCENTIVE wallet is lost is refused once, and gets another", async () => {
  const [payer, shop] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const pay: Command = {
    $case: "pay",
    value: {
      payerWalletId: payer.walletId,
      receiverWalletId: shop.walletId,
      amountWon: "1000",
      incentiveAmountWon: "0",
      memo: undefined,
    },
  };
  expect(valueOf(await world.execute(pay), "payment").incentiveAccruedWon).toBe("50");
  await loseIncentiveWallet(payer);

  const key = randomUUID();
  // The ledger finds out first that it is not as it was.
  await expect(world.execute(pay, key)).rejects.toMatchObject({ code: "SYS_003" });
  expect(valueOf(await world.execute(pay, key), "error").code).toBe("WAL_002");
  expect(valueOf(await world.execute(pay), "payment").incentiveAccruedWon).toBe("50");
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([3_000, 2_000]);
});

test("a claim that is lost while the ledger has its operation is there again with the answer, and its key gives that", async () => {
  const [{ walletId }, { walletId: other }] = [await world.openWallet(), await world.openWallet()];
  const [key, otherKey] = [randomUUID(), randomUUID()];
  doAt("payment.posted", () =>
    asOwner(world.payment, `delete from operations where idempotency_key = '${key}'`),
  );
  const answers = await Promise.all([
    world.execute(charge(walletId), key),
    world.execute(charge(other), otherKey),
    world.execute(charge(other)),
  ]);
  expect(answers.map((answer) => valueOf(answer, "charge").balanceWon)).toContain("1000");
  const again = await world.execute(charge(walletId), key);
  expect(again).toEqual({ ...answers[0], replayed: true });
  expect(await world.balances(walletId, other)).toEqual([1_000, 2_000]);
});

function charge(walletId: string): Command {
  return { $case: "charge", value: { walletId, amountWon: "1000", memo: undefined } };
}

async function loseIncentiveWallet({ userId, walletId }: TestWallet): Promise<void> {
  const { ledger, wallet } = world.databases;
  const lost = `user_id = '${userId}-lost'`;
  const other = idToUuid(newId("wal"));
  await asOwner(
    wallet,
    `update wallet.wallets set ${lost} where user_id = '${userId}' and wallet_id <> '${walletId}'`,
  );
  await asOwner(
    ledger,
    `update ledger.accounts set ${lost}, id = '${other}' where user_id = '${userId}' and id <> '${idToUuid(walletId)}'`,
  );
}
