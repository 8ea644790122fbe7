import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { eventually, testOperator } from "@wonrail/kit/testing";
import { WalletCreated } from "@wonrail/proto/wallet/events/v1/events";
import { type CreateWalletRequest, WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type Metadata } from "../domain/metadata";
import { age } from "./testing/moments";
import { openWorld, type World } from "./testing/world";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.ledger.refuse = () => undefined;
  world.ledger.refuseBalances = () => undefined;
});

const away = () => new DomainError("SYS_002", { retryAfterMs: 1 });

test("fifty requests for one user create one wallet, key and account, apart from other organisations and types", async () => {
  const orgId = newId("org");
  const answers = await Promise.allSettled(Array.from({ length: 50 }, () => create(orgId, "kim")));
  const made = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.walletId] : []));
  const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  expect(made).toHaveLength(1);
  expect(refused).toHaveLength(49);
  for (const error of refused)
    expect(error).toMatchObject({ code: "WAL_001", details: { walletId: made[0] } });
  const others = [
    await create(orgId, "kim", WalletType.INCENTIVE),
    await create(orgId, "lee"),
    await create(newId("org"), "kim"),
  ];
  const { count } = await world.database.db.one<{ count: bigint }>(
    sql`select count(*) as count from wallets where org_id = ${orgId}`,
  );
  expect(count).toBe(3n);
  const wallet = await get(orgId, made[0]!);
  const addresses = [wallet, ...others].map(({ walletAddress }) => walletAddress);
  expect(new Set(addresses).size).toBe(4);
  expect([...world.ledger.opened]).toEqual(expect.arrayContaining(others.map(({ walletId }) => walletId)));
});

test("a restored database assigns no address twice", async () => {
  const orgId = newId("org");
  const { walletAddress: lost } = await create(orgId, "kim");
  // At least a second passes before a restored database serves again.
  await sleep(1_100);
  await world.database.db.run(sql`delete from wallets where org_id = ${orgId}`);
  await world.database.db.run(sql`update seeds set next_index = 0 where org_id = ${orgId}`);
  expect((await create(orgId, "lee")).walletAddress).not.toBe(lost);
});

test("a restored database assigns no address twice, also of a burst, after its key indexes are skipped", async () => {
  const { db } = world.database;
  const orgId = newId("org");
  await create(orgId, "first");
  const given = await Promise.all(Array.from({ length: 40 }, (_, user) => create(orgId, `lost ${user}`)));
  const lost = new Set(given.map(({ walletAddress }) => walletAddress));
  await db.run(sql`delete from wallets where org_id = ${orgId}`);
  await db.run(sql`update seeds set next_index = 0 where org_id = ${orgId}`);
  expect(await world.app.skipKeyIndexes(testOperator())).toBeGreaterThan(0);
  const after = await Promise.all(Array.from({ length: 40 }, (_, user) => create(orgId, `new ${user}`)));
  expect(after.filter(({ walletAddress }) => lost.has(walletAddress))).toEqual([]);
});

test("the next request finishes a wallet whose account could not be opened", async () => {
  const orgId = newId("org");
  world.ledger.refuse = away;
  // The first request started the wallet; the second one changed nothing.
  for (const code of ["SYS_003", "SYS_002"])
    await expect(create(orgId, "kim")).rejects.toMatchObject({ code });
  const [opening] = await world.database.db.query<{ wallet_id: string; address: string; status: string }>(
    sql`select wallet_id, address, status from wallets where org_id = ${orgId}`,
  );
  expect(opening!.status).toBe("OPENING");
  const walletId = opening!.wallet_id;
  for (const attempt of [
    get(orgId, walletId),
    world.client.updateWallet({ orgId, walletId, metadata: { a: "b" } }),
    world.client.deactivateWallet({ orgId, walletId }),
  ])
    await expect(attempt).rejects.toMatchObject({ code: "WAL_002", details: { walletId } });
  expect((await world.client.findWalletsByAddress({ orgId, addresses: [opening!.address] })).wallets).toEqual(
    [],
  );

  world.ledger.refuse = () => undefined;
  await expect(create(orgId, "kim")).rejects.toMatchObject({ code: "WAL_001", details: { walletId } });
  expect(await get(orgId, walletId)).toMatchObject({ walletId, walletAddress: opening!.address });
});

describe("with an idempotency key", () => {
  const keyed = (orgId: string, overrides: Partial<CreateWalletRequest> = {}) =>
    world.client.createWallet({
      ...{ orgId, userId: "kim", walletType: WalletType.NORMAL, metadata: { tier: "gold" } },
      ...{ idempotencyKey: "order 1", bodyHash: Buffer.alloc(32, 1), ...overrides },
    });

  test("fifty identical requests create one wallet, and one of them is not marked as replayed", async () => {
    const orgId = newId("org");
    const answers = await Promise.all(Array.from({ length: 50 }, () => keyed(orgId)));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    for (const { wallet } of answers) expect(wallet).toEqual(answers[0]!.wallet);
    expect(await eventsOf(answers[0]!.wallet!.walletId)).toEqual(["wallet_created"]);
  });

  test("a replay returns the first answer although the wallet changed since", async () => {
    const orgId = newId("org");
    const { wallet } = await keyed(orgId);
    const { walletId } = wallet!;
    await world.client.updateWallet({ orgId, walletId, metadata: { tier: "silver" } });
    await world.client.deactivateWallet({ orgId, walletId });
    const again = await keyed(orgId);
    const { updatedAt: _, ...asMade } = wallet!;
    expect(again).toMatchObject({ replayed: true, wallet: asMade });
  });

  test("a replay finishes a wallet whose account could not be opened", async () => {
    const orgId = newId("org");
    world.ledger.refuse = away;
    await expect(keyed(orgId)).rejects.toMatchObject({ code: "SYS_003" });
    await expect(keyed(orgId)).rejects.toMatchObject({ code: "SYS_002" });
    world.ledger.refuse = () => undefined;
    const { wallet, replayed } = await keyed(orgId);
    expect(replayed).toBe(true);
    expect(await get(orgId, wallet!.walletId)).toMatchObject({ metadata: { tier: "gold" } });
  });

  test("another body is REQ_003, also in a race, and another organisation's keys are separate", async () => {
    const orgId = newId("org");
    const other = { userId: "lee", bodyHash: Buffer.alloc(32, 2) };
    const codes = await Promise.all(
      [{}, other].map((overrides) =>
        keyed(orgId, overrides).then(
          () => "made",
          (error: DomainError) => error.code,
        ),
      ),
    );
    expect(codes.sort()).toEqual(["REQ_003", "made"]);
    expect((await keyed(newId("org"), other)).replayed).toBe(false);
  });

  test("another key for the same user is WAL_001", async () => {
    const orgId = newId("org");
    const { wallet } = await keyed(orgId);
    await expect(keyed(orgId, { idempotencyKey: "order 2" })).rejects.toMatchObject({
      code: "WAL_001",
      details: { walletId: wallet!.walletId },
    });
  });

  test("repeatOnly creates no wallet and replays an existing one", async () => {
    const orgId = newId("org");
    await expect(keyed(orgId, { repeatOnly: true })).rejects.toMatchObject({ code: "WAUTH_004" });
    const { wallet } = await keyed(orgId);
    expect(await keyed(orgId, { repeatOnly: true })).toMatchObject({
      replayed: true,
      wallet: { walletId: wallet!.walletId },
    });
  });

  test.each([
    ["a key that is empty", { idempotencyKey: "" }],
    ["a key of 256 characters", { idempotencyKey: "k".repeat(256) }],
    ["a hash of 31 bytes", { bodyHash: Buffer.alloc(31) }],
    ["no hash", { bodyHash: undefined }],
  ])("%s is REQ_001", async (_, overrides) => {
    await expect(keyed(newId("org"), overrides)).rejects.toMatchObject({ code: "REQ_001" });
  });
});

test("the job finishes a wallet without a retry and publishes one event", async () => {
  const orgId = newId("org");
  world.ledger.refuse = away;
  // SYS_002 would be wrong, because the wallet will be finished.
  await expect(create(orgId, "kim")).rejects.toMatchObject({ code: "SYS_003" });
  // The first request started the wallet, so a later request changed nothing.
  await expect(create(orgId, "kim")).rejects.toMatchObject({ code: "SYS_002" });
  await age(world.database.db, orgId);
  world.ledger.refuse = () => undefined;
  const never = new AbortController().signal;
  await Promise.all([world.app.finishWallets(never), world.app.finishWallets(never)]);
  const ensured = await world.client.ensureWallet({ orgId, userId: "kim", walletType: WalletType.NORMAL });
  expect(await get(orgId, ensured.wallet!.walletId)).toMatchObject({ status: WalletStatus.ACTIVE });
  expect(await eventsOf(ensured.wallet!.walletId)).toEqual(["wallet_created"]);
});

test("a ledger outage after the insert is SYS_003 for every caller", async () => {
  const orgId = newId("org");
  const { walletId } = await create(orgId, "kim");
  world.ledger.refuse = away;
  const ensured = { orgId, userId: "lee", walletType: WalletType.INCENTIVE };
  // The caller's own operation has not started.
  await expect(world.client.ensureWallet(ensured)).rejects.toMatchObject({ code: "SYS_002" });
  await expect(world.client.deactivateWallet({ orgId, walletId })).rejects.toMatchObject({ code: "SYS_003" });
  await age(world.database.db, orgId);
  world.ledger.refuse = () => undefined;
  await world.app.finishWallets(new AbortController().signal);
  expect(await get(orgId, walletId)).toMatchObject({ status: WalletStatus.DEACTIVATED });
});

test("metadata of the first request stays when another request opens the wallet", async () => {
  const orgId = newId("org");
  const post = (tier: string) =>
    world.client
      .createWallet({ orgId, userId: "kim", walletType: WalletType.NORMAL, metadata: { tier } })
      .then(({ wallet }) => wallet!.metadata)
      .catch((error: DomainError) => error.code);
  let asked = 0;
  let letMakerGoOn = (): void => undefined;
  const maker = new Promise<void>((resolve) => (letMakerGoOn = resolve));
  world.ledger.refuse = async () => {
    asked += 1;
    if (asked === 1) await maker;
    return undefined;
  };
  const made = post("gold");
  await eventually(() => expect(asked).toBe(1));
  expect(await post("silver")).toBe("WAL_001");
  letMakerGoOn();
  expect(await made).toEqual({ tier: "gold" });
  const [row] = await world.database.db.query<{ wallet_id: string; metadata: Metadata }>(
    sql`select wallet_id, metadata from wallets where org_id = ${orgId}`,
  );
  expect(row!.metadata).toEqual({ tier: "gold" });
  const [event] = await world.database.db.query<{ payload: Buffer }>(
    sql`select payload from outbox where aggregate_id = ${row!.wallet_id} and type = 'wallet_created'`,
  );
  expect(WalletCreated.decode(event!.payload).metadata).toEqual({ tier: "gold" });
});

test("wallets that the ledger refuses do not delay later ones, and an outage ends the round", async () => {
  const orgId = newId("org");
  world.ledger.refuse = away;
  for (const user of ["kim", "lee", "park"]) await create(orgId, user).catch(() => undefined);
  // Older wallets than these, more than one batch takes.
  await world.database.db.run(sql`
    insert into wallets (org_id, wallet_id, user_id, wallet_type, address, key_index, status)
    select ${orgId}, 'wal_000' || n, 'refused ' || n, 'NORMAL', '0x' || lpad(n::text, 40, '0'), 1000 + n, 'OPENING'
    from generate_series(1, 120) as n`);
  await age(world.database.db, orgId);
  await world.database.db.run(
    sql`update wallets set updated_at = now() - interval '1 hour' where org_id = ${orgId} and user_id like 'refused%'`,
  );
  const isRefused = ({ requestId }: { requestId: string }) => requestId.startsWith("wal_000");
  const finish = () => world.app.finishWallets(new AbortController().signal);

  const before = world.ledger.asked.length;
  await expect(finish()).rejects.toMatchObject({ code: "SYS_002" });
  expect(new Set(world.ledger.asked.slice(before)).size).toBe(1);

  world.ledger.refuse = (request) => (isRefused(request) ? new DomainError("WAL_001") : undefined);
  await expect(finish()).rejects.toThrow("120 wallets could not be finished");
  const statuses = sql`
    select user_id, status from wallets where org_id = ${orgId} and user_id not like 'refused%' order by user_id`;
  expect(await world.database.db.query(statuses)).toEqual(
    ["kim", "lee", "park"].map((user) => ({ user_id: user, status: "ACTIVE" })),
  );
  const logLines = world
    .logged()
    .split("\n")
    .filter((line) => line.includes("could not be finished"));
  expect(logLines).toHaveLength(120);
  await world.database.db.run(sql`delete from wallets where org_id = ${orgId} and status = 'OPENING'`);
});

test("the ledger decides a deactivation: it refuses while money is left, and the job finishes it after a crash", async () => {
  const orgId = newId("org");
  const { walletId } = await create(orgId, "kim");
  world.ledger.holdsMoney.add(walletId);
  await expect(world.client.deactivateWallet({ orgId, walletId })).rejects.toMatchObject({ code: "WAL_003" });
  expect(await get(orgId, walletId)).toMatchObject({ status: WalletStatus.ACTIVE });

  world.ledger.holdsMoney.delete(walletId);
  world.ledger.refuse = () => new DomainError("SYS_003");
  await expect(world.client.deactivateWallet({ orgId, walletId })).rejects.toMatchObject({ code: "SYS_003" });
  await age(world.database.db, orgId);
  world.ledger.refuse = () => undefined;
  await world.app.finishWallets(new AbortController().signal);
  expect(await get(orgId, walletId)).toMatchObject({ status: WalletStatus.DEACTIVATED });
  await expect(world.client.deactivateWallet({ orgId, walletId })).rejects.toMatchObject({ code: "WAL_004" });
  await expect(world.client.updateWallet({ orgId, walletId, metadata: {} })).rejects.toMatchObject({
    code: "WAL_004",
  });
  expect(await eventsOf(walletId)).toEqual(["wallet_created", "wallet_deactivated"]);
});

test("a late refusal does not reactivate a wallet that another deactivation closed", async () => {
  const orgId = newId("org");
  const { walletId } = await create(orgId, "kim");
  const deactivate = () => world.client.deactivateWallet({ orgId, walletId });
  let secondAsks = (): void => undefined;
  const secondAsked = new Promise<void>((resolve) => (secondAsks = resolve));
  world.ledger.refuse = async () => {
    await secondAsked;
    return new DomainError("WAL_003");
  };
  const refused = deactivate().catch((error: unknown) => error);
  while (!world.ledger.asked.includes(`closeAccount ${walletId}`)) await sleep(5);
  world.ledger.refuse = async () => {
    secondAsks();
    await refused;
    return undefined;
  };
  const granted = await deactivate();
  expect(await refused).toMatchObject({ code: "WAL_003" });
  expect(granted.wallet).toMatchObject({ status: WalletStatus.DEACTIVATED });
  expect(await get(orgId, walletId)).toMatchObject({ status: WalletStatus.DEACTIVATED });
  expect(await eventsOf(walletId)).toEqual(["wallet_created", "wallet_deactivated"]);
});

test("another organisation finds and changes no wallet", async () => {
  const [mine, theirs] = [newId("org"), newId("org")];
  const { walletId, walletAddress } = await create(mine, "kim");
  await create(theirs, "lee");
  for (const attempt of [
    get(theirs, walletId),
    world.client.updateWallet({ orgId: theirs, walletId, metadata: { a: "b" } }),
    world.client.deactivateWallet({ orgId: theirs, walletId }),
  ])
    await expect(attempt).rejects.toMatchObject({ code: "WAL_002" });
  const { wallets: facts } = await world.client.getWalletFacts({ orgId: theirs, walletIds: [walletId] });
  const { wallets: found } = await world.client.findWalletsByAddress({
    orgId: theirs,
    addresses: [walletAddress],
  });
  expect([facts, found]).toEqual([[], []]);
  expect(await get(mine, walletId)).toMatchObject({ metadata: {}, status: WalletStatus.ACTIVE });
});

test("metadata is replaced completely, and more than five pairs are refused with every problem", async () => {
  const orgId = newId("org");
  const { walletId } = await create(orgId, "kim");
  await world.client.updateWallet({ orgId, walletId, metadata: { tier: "gold", branch: "7" } });
  await world.client.updateWallet({ orgId, walletId, metadata: { tier: "silver" } });
  expect((await get(orgId, walletId)).metadata).toEqual({ tier: "silver" });
  const tooMuch = { ...Object.fromEntries([1, 2, 3, 4, 5].map((key) => [`k${key}`, "v"])), [""]: "v" };
  await expect(world.client.updateWallet({ orgId, walletId, metadata: tooMuch })).rejects.toMatchObject({
    code: "REQ_001",
  });
  expect((await get(orgId, walletId)).metadata).toEqual({ tier: "silver" });
  const wanted = { orgId, userId: "lee", walletType: WalletType.NORMAL, metadata: tooMuch };
  await expect(world.client.createWallet(wanted)).rejects.toMatchObject({ code: "REQ_001" });
});

async function create(orgId: string, userId: string, walletType = WalletType.NORMAL) {
  return (await world.client.createWallet({ orgId, userId, walletType, metadata: {} })).wallet!;
}

async function get(orgId: string, walletId: string) {
  return (await world.client.getWallet({ orgId, walletId })).wallet!;
}

async function eventsOf(walletId: string): Promise<string[]> {
  const rows = await world.database.db.query<{ type: string }>(
    sql`select type from outbox where aggregate_id = ${walletId} order by version`,
  );
  return rows.map(({ type }) => type);
}

test("text that cannot be stored is REQ_001 and creates no wallet", async () => {
  const { client, database } = world;
  const orgId = newId("org");
  const refusal = { code: "REQ_001", details: { fields: [{}] } };
  const wanted = { orgId, userId: "kim\tlee", walletType: WalletType.NORMAL, metadata: {} };
  for (const userId of ["a\0b", "kim\tlee", "", "u".repeat(129)])
    await expect(client.createWallet({ ...wanted, userId })).rejects.toMatchObject(refusal);
  const described = { ...wanted, userId: "kim", metadata: { team: "a\0b" } };
  await expect(client.createWallet(described)).rejects.toMatchObject({ code: "REQ_001" });
  await expect(client.getWallet({ orgId, walletId: "a\0b" })).rejects.toMatchObject({ code: "REQ_001" });
  expect(await database.db.query(sql`select 1 from wallets where org_id = ${orgId}`)).toEqual([]);
});
