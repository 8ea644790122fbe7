import { randomUUID } from "node:crypto";
import { rawSql } from "@wonrail/kit/db";
import { ChargeCancelled } from "@wonrail/proto/payment/events/v1/events";
import { dieAt, doAt, hangAt } from "./testing/failpoints";
import { asOwner, type Command, complete, openWorld, valueOf, type World } from "./testing/world";

// SYS_002 says that nothing was done. It is said of the whole operation only while nobody can have asked the ledger for it before.

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

let world: World;

beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

const charge = (walletId: string, amountWon = "1000"): Command => ({
  $case: "charge",
  value: { walletId, amountWon, memo: undefined },
});
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: { code: string }) => error.code,
  );
const states = async () =>
  (
    await world.payment.db.query<{ state: string }>(
      rawSql("select state from operations order by created_at"),
    )
  ).map(({ state }) => state);

/** Asks under a new key until the ledger certainly was not asked. */
async function letGo(walletId: string): Promise<string> {
  for (let tries = 0; tries < 5; tries += 1) {
    const key = randomUUID();
    if ((await codeOf(world.execute(charge(walletId), key))) === "SYS_002") return key;
  }
  throw new Error("nobody was told that nothing was done");
}

test.each(["ledger.committed", "payment.posted"])(
  "it died at %s: the completer and the same key, which find no ledger, do not forget it",
  async (point) => {
    const { walletId } = await world.openWallet();
    const key = randomUUID();
    await dieAt(world, point, () => world.execute(charge(walletId), key));
    await world.stop("ledger");
    await complete(world);
    const answers = [];
    for (let tries = 0; tries < 3; tries += 1)
      answers.push(await codeOf(world.execute(charge(walletId), key)));
    await complete(world);
    expect([answers, await states()]).toEqual([["SYS_003", "SYS_003", "SYS_003"], ["CLAIMED"]]);
    await world.crash();
    await complete(world);
    expect([await states(), await world.balances(walletId)]).toEqual([["DONE"], [1_000]]);
    expect(valueOf(await world.execute(charge(walletId), key), "charge").amountWon).toBe("1000");
    expect(await world.violations()).toEqual([]);
  },
  60_000,
);

test("an outcome that stays open is told of from half a minute on, however often the completer and its key try", async () => {
  const { walletId } = await world.openWallet();
  const key = randomUUID();
  await dieAt(world, "ledger.committed", () => world.execute(charge(walletId), key));
  await world.stop("ledger");
  const told = () => world.metric("payment_abandoned_operations");
  expect(await told()).toBe(0);
  await asOwner(
    world.payment,
    "update operations set created_at = created_at - interval '31 s' where state = 'CLAIMED'",
  );
  expect(await told()).toBe(1);
  for (let tries = 0; tries < 3; tries += 1) {
    await complete(world);
    expect(await told()).toBe(1);
    expect(await codeOf(world.execute(charge(walletId), key))).toBe("SYS_003");
    expect(await told()).toBe(1);
  }
  await world.crash();
  await complete(world);
  expect([await states(), await told()]).toEqual([["DONE"], 0]);
}, 60_000);

test("what was let go is let go again while the ledger is away, and done once when it is back", async () => {
  const { walletId } = await world.openWallet();
  await world.stop("ledger");
  const key = await letGo(walletId);
  expect(await codeOf(world.execute(charge(walletId), key))).toBe("SYS_002");
  expect((await states()).at(-1)).toBe("RELEASED");
  await world.crash();
  const before = await world.balances(walletId);
  expect(await world.execute(charge(walletId), key)).toMatchObject({ replayed: false });
  expect(await world.execute(charge(walletId), key)).toMatchObject({ replayed: true });
  expect(await world.balances(walletId)).toEqual([before[0]! + 1_000]);
}, 60_000);

test("what was let go and comes again weeks later goes by the time and the facts of that day", async () => {
  const { walletId, chargeId } = await world.openWallet({ amountWon: 5_000 });
  const cancel: Command = { $case: "cancelCharge", value: { chargeId, amountWon: "1000", memo: undefined } };
  await world.stop("ledger");
  let key = randomUUID();
  while ((await codeOf(world.execute(cancel, key))) !== "SYS_002") key = randomUUID();
  // Of a request that was understood otherwise at the time.
  await asOwner(
    world.payment,
    `update operations set created_at = created_at - interval '25 days', input = jsonb_set(input, '{amountWon}', '"5000"')
     where idempotency_key = '${key}'`,
  );
  await world.crash();
  // What was asked for under the other keys, if there were others.
  await complete(world);
  const [before] = await world.balances(walletId);
  expect(await world.execute(cancel, key)).toMatchObject({ replayed: false });
  expect(await world.balances(walletId)).toEqual([before! - 1_000]);
  const { age } = await world.payment.db.one<{ age: number }>(
    rawSql(
      `select extract(epoch from now() - created_at)::float8 as age from operations where idempotency_key = '${key}'`,
    ),
  );
  expect(age).toBeLessThan(60);
}, 60_000);

test("another request under a key that was let go is refused, and does not bring the first one about", async () => {
  const { walletId } = await world.openWallet();
  await world.stop("ledger");
  const key = await letGo(walletId);
  await world.crash();
  await complete(world);
  const before = await world.balances(walletId);
  expect(await codeOf(world.execute(charge(walletId, "2000"), key))).toBe("REQ_003");
  await complete(world);
  expect([(await states()).at(-1), await world.balances(walletId)]).toEqual(["RELEASED", before]);
}, 60_000);

test("two requests share a key while the ledger goes away: nobody is told that nothing was done", async () => {
  const { walletId } = await world.openWallet();
  await world.stop("ledger");
  const key = randomUUID();
  const answers = await Promise.all([1, 2, 3].map(() => codeOf(world.execute(charge(walletId), key))));
  // One of them may have come when the others were gone, and may then have been alone with it.
  expect(answers.filter((code) => code === "SYS_003").length).toBeGreaterThanOrEqual(2);
  await world.crash();
  await world.execute(charge(walletId), key);
  await complete(world);
  expect([await states(), await world.balances(walletId)]).toEqual([["DONE"], [1_000]]);
}, 60_000);

test("the ledger has posted and payment's database is away: the outcome is unknown, and it is brought to its end", async () => {
  const { walletId } = await world.openWallet();
  const [{ role }] = (await world.payment.db.query<{ role: string }>(
    rawSql("select current_user as role"),
  )) as [{ role: string }];
  // This database only: the role is everybody's who tests at the same time.
  const name = new URL(world.payment.url).pathname.slice(1);
  doAt("payment.posted", async () => {
    await asOwner(world.payment, `revoke connect on database ${name} from ${role}`);
    await asOwner(
      world.payment,
      `select pg_terminate_backend(pid, 8000) from pg_stat_activity where datname = '${name}' and usename = '${role}'`,
    );
  });
  try {
    expect(await codeOf(world.execute(charge(walletId)))).toBe("SYS_003");
  } finally {
    await asOwner(world.payment, `grant connect on database ${name} to ${role}`);
  }
  await complete(world);
  expect([await states(), await world.balances(walletId)]).toEqual([["DONE"], [1_000]]);
}, 60_000);

test("parts of a charge that are written down in the other order: the last event tells of the charge as it is", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 1_000 });
  const cancel = (amountWon?: string): Command => ({
    $case: "cancelCharge",
    value: { chargeId, amountWon, memo: undefined },
  });
  const { reached, goOn } = hangAt("payment.posted");
  const first = world.execute(cancel("300"));
  await reached;
  await world.execute(cancel());
  goOn();
  expect(valueOf(await first, "cancelledCharge").charge!.cancelledAmountWon).toBe("300");
  const events = await world.payment.db.query<{ payload: Buffer }>(
    rawSql("select payload from outbox where type = 'charge_cancelled' order by version"),
  );
  const told = events.map(({ payload }) => ChargeCancelled.decode(payload));
  expect(told.map(({ amountWon, charge }) => [amountWon, charge!.cancelledAmountWon])).toEqual([
    ["700", "1000"],
    ["300", "1000"],
  ]);
}, 60_000);
