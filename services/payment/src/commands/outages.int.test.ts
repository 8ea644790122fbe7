import { randomUUID } from "node:crypto";
import { cancelCharge, charge, pay, refund, transfer } from "./testing/commands";
import { openWorld, type World } from "./testing/world";

// Some commands work while a dependency is away. The others get a code that tells whether to retry.

let world: World;
beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "answered",
    (error: unknown) => (error as { code: string }).code,
  );

test("commands without new facts succeed while wallet and auth are away, and the others are SYS_002", async () => {
  const [one, two] = [await world.openWallet({ amountWon: 50_000 }), await world.openWallet()];
  const stranger = await world.openWallet();
  const known = [transfer(one.walletId, two.address, 1_000), pay(one.walletId, two.walletId, 1_000)];
  for (const command of known) await world.execute(command);
  await world.stop("wallet", "auth");

  const others = [charge(one.walletId, 1_000), cancelCharge(one.chargeId, 1_000), refund(two.walletId)];
  for (const command of [...known, ...others])
    expect((await world.execute(command)).outcome?.$case).not.toBe("error");

  const key = randomUUID();
  const unknown = transfer(one.walletId, stranger.address, 1_000);
  expect(await codeOf(world.execute(unknown, key))).toBe("SYS_002");
  await world.crash();
  expect((await world.execute(unknown, key)).outcome?.$case).toBe("transfer");
  expect(await world.violations()).toEqual([]);
}, 60_000);

test("a key that succeeded is replayed when a fact cannot be looked up", async () => {
  const [from, to] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const command = transfer(from.walletId, to.address, 1_000);
  const key = randomUUID();
  const first = await world.execute(command, key);
  // The other replica has never looked up the address.
  await world.crash();
  await world.stop("wallet");
  expect(await world.execute(command, key)).toEqual({ ...first, replayed: true });
  expect(await codeOf(world.execute(transfer(from.walletId, to.address, 999), key))).toBe("REQ_003");
  expect(await codeOf(world.execute(command, randomUUID()))).toBe("SYS_002");
  expect(await world.balances(from.walletId)).toEqual([4_000]);
}, 60_000);

test("an outage of the ledger is SYS_002 or SYS_003, and the same key then has one effect", async () => {
  const { walletId } = await world.openWallet();
  await world.stop("ledger");
  const key = randomUUID();
  expect(["SYS_002", "SYS_003"]).toContain(await codeOf(world.execute(charge(walletId, 1_000), key)));
  await world.crash();
  await world.execute(charge(walletId, 1_000), key);
  await world.execute(charge(walletId, 1_000), key);
  expect(await world.balances(walletId)).toEqual([1_000]);
}, 60_000);
