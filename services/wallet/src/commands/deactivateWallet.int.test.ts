import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { age } from "./testing/moments";
import { agreedStatus, openWorld, statusName, type World } from "./testing/world";

let world: World;
let orgId: string;
let walletId: string;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  world.ledger.loseAnswer = () => undefined;
  orgId = newId("org");
  const asked = { orgId, userId: "kim", walletType: WalletType.NORMAL, metadata: {} };
  walletId = (await world.client.createWallet(asked)).wallet!.walletId;
});

const agreed = () => agreedStatus(world, { orgId, walletId });

/** The caller's answer: a status, or the code of a refusal. */
const deactivate = () =>
  world.client.deactivateWallet({ orgId, walletId }).then(
    ({ wallet }) => statusName(wallet!.status),
    (error: DomainError) => error.code,
  );

describe("a deactivation with an Idempotency-Key", () => {
  const keyed = (of = walletId, idempotencyKey = "leave 1", content = 0) =>
    world.client.deactivateWallet({
      ...{ orgId, walletId: of, idempotencyKey, bodyHash: Buffer.alloc(32, content) },
    });

  test("is answered again for its key, and refused for another request", async () => {
    const first = await keyed();
    expect(first).toMatchObject({ wallet: { status: WalletStatus.DEACTIVATED }, replayed: false });
    expect(await keyed()).toEqual({ ...first, replayed: true });
    await expect(keyed(walletId, "leave 1", 1)).rejects.toMatchObject({ code: "REQ_003" });
    await expect(keyed(walletId, "leave 2")).rejects.toMatchObject({ code: "WAL_004" });
  });

  test("is not repeated when an operator reopened the wallet", async () => {
    await keyed();
    await world.database.db.run(sql`
      update wallets set status = 'ACTIVE', times_reopened = times_reopened + 1 where wallet_id = ${walletId}`);
    expect(await keyed()).toMatchObject({ wallet: { status: WalletStatus.DEACTIVATED }, replayed: true });
    const { wallet } = await world.client.getWallet({ orgId, walletId });
    expect(wallet!.status).toBe(WalletStatus.ACTIVE);
  });

  test("is answered when the process died after the ledger closed the account", async () => {
    world.ledger.loseAnswer = dies;
    await expect(keyed()).rejects.toMatchObject({ code: "SYS_003" });
    world.ledger.loseAnswer = () => undefined;
    await finish();
    expect(await keyed()).toMatchObject({ wallet: { status: WalletStatus.DEACTIVATED }, replayed: true });
  });

  test("leaves the key to a later attempt when the wallet held money", async () => {
    world.ledger.holdsMoney.add(walletId);
    await expect(keyed()).rejects.toMatchObject({ code: "WAL_003" });
    world.ledger.holdsMoney.delete(walletId);
    expect(await keyed()).toMatchObject({ wallet: { status: WalletStatus.DEACTIVATED }, replayed: false });
  });
});

/**
 * A deactivation that the ledger refused for a balance. The test decides when the refusal arrives.
 */
async function delayRefusal() {
  const { ledger } = world;
  ledger.holdsMoney.add(walletId);
  let releaseRefusal = (): void => undefined;
  const heard = new Promise<void>((resolve) => (releaseRefusal = resolve));
  ledger.loseAnswer = () => heard.then(() => undefined);
  const first = deactivate();
  while (!ledger.asked.includes(`closeAccount ${walletId}`)) await sleep(5);
  ledger.holdsMoney.delete(walletId);
  return { first, releaseRefusal };
}

test("a wallet matches its account when one deactivation is refused late and another's process dies", async () => {
  const { ledger } = world;
  const { first, releaseRefusal } = await delayRefusal();
  ledger.loseAnswer = dies;
  expect(await deactivate()).toBe("SYS_003");
  ledger.loseAnswer = () => undefined;
  releaseRefusal();
  expect(await first).toBe("WAL_003");
  await finish();
  expect(await agreed()).toBe("ACTIVE");

  expect(await deactivate()).toBe("DEACTIVATED");
  expect(await agreed()).toBe("DEACTIVATED");
});

test("a late refusal does not undo a deactivation that was granted to a later request", async () => {
  const { ledger } = world;
  const { first, releaseRefusal } = await delayRefusal();
  // The second request gets the same refusal, asks again, is granted, and its process dies.
  const answers = [undefined, dies()];
  ledger.loseAnswer = () => answers.shift();
  expect(await deactivate()).toBe("SYS_003");
  ledger.loseAnswer = () => undefined;
  releaseRefusal();
  expect(await first).toBe("WAL_003");
  await finish();
  expect(await agreed()).toBe("DEACTIVATED");
});

test("a refused deactivation leaves the wallet unchanged, including its time of change", async () => {
  const read = async () => (await world.client.getWallet({ orgId, walletId })).wallet;
  const before = await read();
  world.ledger.holdsMoney.add(walletId);
  expect(await deactivate()).toBe("WAL_003");
  expect(await read()).toEqual(before);

  world.ledger.loseAnswer = dies;
  expect(await deactivate()).toBe("SYS_003");
  expect(await read()).toEqual(before);
  world.ledger.loseAnswer = () => undefined;
  await age(world.database.db, orgId);
  const aged = await read();
  await runJob();
  expect(await read()).toEqual(aged);
});

test("the job skips a recent deactivation of a wallet with an old change", async () => {
  await age(world.database.db, orgId);
  world.ledger.loseAnswer = dies;
  expect(await deactivate()).toBe("SYS_003");
  world.ledger.loseAnswer = () => undefined;
  const asked = world.ledger.asked.length;
  await runJob();
  expect(world.ledger.asked).toHaveLength(asked);
  await finish();
  expect(await agreed()).toBe("DEACTIVATED");
});

test("the job keeps a refusal from before a crash, and a new request asks the ledger again", async () => {
  world.ledger.holdsMoney.add(walletId);
  world.ledger.loseAnswer = dies;
  expect(await deactivate()).toBe("SYS_003");
  world.ledger.holdsMoney.delete(walletId);
  world.ledger.loseAnswer = () => undefined;
  await finish();
  expect(await agreed()).toBe("ACTIVE");

  world.ledger.holdsMoney.add(walletId);
  world.ledger.loseAnswer = dies;
  expect(await deactivate()).toBe("SYS_003");
  world.ledger.holdsMoney.delete(walletId);
  world.ledger.loseAnswer = () => undefined;
  expect(await deactivate()).toBe("DEACTIVATED");
  expect(await agreed()).toBe("DEACTIVATED");
});

test("the job completes a grant from before a crash, and publishes one event", async () => {
  world.ledger.loseAnswer = dies;
  expect(await deactivate()).toBe("SYS_003");
  world.ledger.loseAnswer = () => undefined;
  await Promise.all([finish(), finish()]);
  expect(await agreed()).toBe("DEACTIVATED");
  const events = await world.database.db.query(
    sql`select type from outbox where aggregate_id = ${walletId} and type = 'wallet_deactivated'`,
  );
  expect(events).toHaveLength(1);
});

test("a DEACTIVATING wallet without a request id is finished", async () => {
  await world.database.db.run(sql`update wallets set status = 'DEACTIVATING' where wallet_id = ${walletId}`);
  await finish();
  expect(await agreed()).toBe("DEACTIVATED");
});

test("an error that is not the ledger's decision does not reactivate a wallet", async () => {
  world.ledger.loseAnswer = () => new DomainError("REQ_001", { fields: [] });
  expect(await deactivate()).toBe("REQ_001");
  await expect(finish()).rejects.toThrow("1 wallets could not be finished");
  world.ledger.loseAnswer = () => undefined;
  await finish();
  expect(await agreed()).toBe("DEACTIVATED");
});

function dies(): Error {
  return new DomainError("SYS_003");
}

/** Runs the job after every request must have ended. */
async function finish(): Promise<void> {
  await age(world.database.db, orgId);
  await runJob();
}

function runJob(): Promise<void> {
  return world.app.finishWallets(new AbortController().signal);
}
