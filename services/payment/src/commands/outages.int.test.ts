import { randomUUID } from "node:crypto";
import { type Bus, installPostgresBus, openBus } from "@wonrail/kit/bus";
import { rawSql } from "@wonrail/kit/db";
import { Registry } from "@wonrail/kit/metrics";
import { startOutboxRelay } from "@wonrail/kit/outbox";
import { eventually, type Proxy, startProxy, testLog } from "@wonrail/kit/testing";
import { TOPICS } from "../events";
import { type Command, openWorld, type TestWallet, valueOf, type World } from "./testing/world";

// What goes on while something is away, and what says at once that it cannot.

const log = testLog();
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

test("the bus is away: money moves as ever, and each event comes once it is back, once", async () => {
  const { payment } = world;
  const [{ role }] = (await payment.db.query<{ role: string }>(rawSql("select current_user as role"))) as [
    { role: string },
  ];
  await installPostgresBus(payment.adminUrl, [role]);
  const url = new URL(payment.url);
  const proxy: Proxy = await startProxy({ target: { host: url.hostname, port: Number(url.port) } });
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  const bus = await openBus({ kind: "postgres", url: url.toString(), clientId: "payment", log });
  const near = await openBus({ kind: "postgres", url: payment.url, clientId: "reader", log });
  await bus.ensureTopics(TOPICS);
  const relay = startOutboxRelay({ db: payment.db, bus, log, registry: new Registry(), pollMs: 100 });
  try {
    const { walletId } = await world.openWallet();
    proxy.setMode({ kind: "reset" });
    const ids = new Set<string>();
    for (let sent = 0; sent < 20; sent += 1)
      ids.add(valueOf(await world.execute(charge(walletId)), "charge").chargeId);
    expect(await world.balances(walletId)).toEqual([20_000]);

    proxy.setMode({ kind: "pass" });
    const told = await readTopic(near, ids.size);
    expect(new Set(told)).toEqual(ids);
    expect(told).toHaveLength(ids.size);
  } finally {
    await relay.close();
    await bus.close();
    await near.close();
    await proxy.close();
  }
}, 60_000);

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

/** What the charges' events are about, until there are as many as wanted, and what comes in the moment after that. */
async function readTopic(bus: Bus, wanted: number): Promise<string[]> {
  const told: string[] = [];
  const subscription = await bus.subscribe({
    group: "reader",
    topics: TOPICS.map(({ name }) => name),
    handleBatch: async (messages) => {
      told.push(...messages.map(({ headers }) => headers.aggregate_id!));
    },
  });
  await eventually(() => expect(told.length).toBeGreaterThanOrEqual(wanted), { timeoutMs: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await subscription.close();
  return told;
}
