import { testOperator } from "@wonrail/kit/testing";
// Places where a seed must never appear: rows, logs and answers. Also: moved rows and changed keys.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { rawSql, sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { type AuthorizationIntent, AuthorizationKind, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { openCurve } from "../keys/curve";
import { walletBranch, walletKey } from "../keys/hierarchy";
import { createKeyring } from "../keys/keyring";
import { fileKms } from "@wonrail/kit/kms";
import { CHAIN_ID, openWorld, TOKEN, type World } from "./testing/world";
import { checkSeals } from "../queries/checkSeals";
import { resealSeeds } from "./resealSeeds";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("rows, log lines and answers hold no seed and no derived key in clear", async () => {
  const orgId = newId("org");
  const seed = randomBytes(32);
  await plant(orgId, seed);
  const [payer, payee] = [await create(orgId, "payer"), await create(orgId, "payee")];
  const ledgerRef = newId("trf");
  world.ledger.addTransfer({
    orgId,
    ledgerRef,
    from: payer.walletId,
    to: payee.walletId,
    amountWon: 5n,
  });
  const intents = [5n, 6n].map((amountWon) => intentOf(orgId, ledgerRef, payer.walletId, payee, amountWon));
  const { signatures } = await world.client.signAuthorizations({ intents });
  expect(signatures.map(({ outcome }) => outcome!.$case)).toEqual(["signature", "error"]);
  // A seed that does not open is where an error could say too much.
  await world.database.db.run(
    sql`update seeds set sealed = set_byte(sealed, 20, (get_byte(sealed, 20) + 1) % 256) where org_id = ${orgId}`,
  );
  const error = await create(orgId, "third").catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "SYS_001" });

  const curve = openCurve();
  const branch = walletBranch(curve, seed);
  const secrets = [
    seed,
    branch.key,
    branch.chainCode,
    walletKey(curve, branch, 0),
    walletKey(curve, branch, 1),
  ];
  const kek = JSON.parse(readFileSync(world.kekPath, "utf8")) as { keys: Record<string, string> };
  secrets.push(...Object.values(kek.keys).map((text) => Buffer.from(text, "base64")));
  const places = {
    log: world.logged(),
    answers: JSON.stringify([payer, payee, error, signatures]),
    rows: await readAllRows(),
  };
  expect(places.log).toContain("refused to sign");
  expect(places.rows).toContain(payer.walletAddress);
  for (const [place, text] of Object.entries(places))
    expect([place, secrets.flatMap(encodingsOf).filter((way) => text.includes(way))]).toEqual([place, []]);
});

test("a seed row that is moved to another organisation cannot be decrypted there", async () => {
  const [mine, theirs] = [newId("org"), newId("org")];
  await create(mine, "kim");
  await create(theirs, "lee");
  await world.database.db.run(sql`
    update seeds mine set sealed = theirs.sealed from seeds theirs
    where mine.org_id = ${mine} and theirs.org_id = ${theirs}`);
  await expect(create(mine, "park")).rejects.toMatchObject({ code: "SYS_001" });
});

test("the first wallets of an organisation, created at once, derive from its one stored seed", async () => {
  const orgId = newId("org");
  const users = Array.from({ length: 20 }, (_, user) => `user-${user}`);
  const made = await Promise.all(users.map((user) => create(orgId, user)));
  const addressOf = openSecond();
  const kept = await Promise.all(made.map(({ walletId }) => addressOf(orgId, walletId)));
  expect(made.map(({ walletAddress }) => walletAddress)).toEqual(kept);
  expect(new Set(kept).size).toBe(users.length);
});

test("a damaged seed delays no other organisation, and the same nonce is signed after its repair", async () => {
  const [mine, theirs] = [newId("org"), newId("org")];
  const intents = [await payable(mine), await payable(theirs)];
  await spoilSeed(theirs);
  expect(await outcomesOf(intents)).toEqual(["signature", "key_unavailable"]);
  expect(await outcomesOf(intents.toReversed())).toEqual(["key_unavailable", "signature"]);
  const refusals = sql`select reason from signing_refusals where org_id in (${mine}, ${theirs})`;
  // Counted and logged each time, and stored once.
  expect(await world.database.db.query(refusals)).toEqual([{ reason: "key_unavailable" }]);
  const { values } = await world.registry.getSingleMetric("signer_refusals_total")!.get();
  expect(values).toContainEqual(expect.objectContaining({ labels: { reason: "key_unavailable" }, value: 2 }));
  const logLines = world
    .logged()
    .split("\n")
    .filter((line) => line.includes("could not be decrypted"));
  const lines = logLines.map((line) => JSON.parse(line) as { level: unknown; orgId: string });
  expect(lines.map(({ orgId }) => orgId)).toEqual([theirs, theirs]);
  expect(lines.map(({ level }) => level)).toEqual(["error", "error"]);

  // The stored leg stays, so that no second authorization exists beside it.
  const other = { ...intents[1]!, nonce: randomBytes(32) };
  expect(await outcomesOf([other])).toEqual(["signed_otherwise"]);
  await spoilSeed(theirs);
  expect(await outcomesOf(intents)).toEqual(["signature", "signature"]);
});

test("wallets are created and signatures given during a change of the key-encryption key, and afterwards", async () => {
  const orgs = Array.from({ length: 25 }, () => newId("org"));
  const made = await Promise.all(orgs.map((orgId) => create(orgId, "kim")));
  world.mountKeks("k1", "k2");
  const over = new AbortController();
  const load = workUntilAborted(orgs, made, over.signal);
  const keyring = createKeyring({ kms: fileKms(world.kekPath), curve: openCurve() });
  const { resealed, unopened } = await resealSeeds({ db: world.database.db, keyring }, testOperator());
  over.abort();
  expect(await load).toBeGreaterThan(0);
  expect(resealed).toBeGreaterThanOrEqual(25);
  // Damaged seeds of earlier tests are reported and do not keep others under the old key.
  expect(unopened).toHaveLength(2);
  const under = await world.database.db.query(
    sql`select distinct kek_id from seeds where org_id = any(${orgs}::text[])`,
  );
  expect(under).toEqual([{ kek_id: "k2" }]);

  // Seeds under the old key, also of a backup, need that key. The report names seeds without their
  // key.
  const { checks: before } = await checkSeals({ db: world.database.db, keyring });
  expect(before).toContainEqual({ kekId: "k2", seeds: expect.any(BigInt) as bigint, problem: null });
  await world.database.db.run(sql`update seeds set kek_id = 'k0' where org_id = ${orgs.at(-1)!}`);
  const { checks: after } = await checkSeals({ db: world.database.db, keyring });
  expect(after).toContainEqual({
    kekId: "k0",
    seeds: 1n,
    problem: "the key-encryption key k0 is not in the key file",
  });

  world.mountKeks("k2");
  const addressOf = openSecond();
  for (const [index, orgId] of orgs.slice(0, 5).entries()) {
    const { walletId, walletAddress } = made[index]!;
    expect(await addressOf(orgId, walletId)).toBe(walletAddress);
  }
}, 60_000);

/**
 * Creates wallets and signs until it is stopped. Returns the number of rounds. A refusal fails the
 * test.
 */
async function workUntilAborted(
  orgs: string[],
  made: { walletId: string; walletAddress: string }[],
  signal: AbortSignal,
): Promise<number> {
  let done = 0;
  while (!signal.aborted || done === 0) {
    const orgId = orgs[done % orgs.length]!;
    const from = made[done % orgs.length]!;
    const to = await create(orgId, `user-${done}`);
    const ledgerRef = newId("trf");
    world.ledger.addTransfer({ orgId, ledgerRef, from: from.walletId, to: to.walletId, amountWon: 1n });
    const { signatures } = await world.client.signAuthorizations({
      intents: [intentOf(orgId, ledgerRef, from.walletId, to, 1n)],
    });
    expect(signatures[0]!.outcome!.$case).toBe("signature");
    done += 1;
  }
  return done;
}

/** As a process would that starts with the new key alone: a wallet's address, derived anew. */
function openSecond() {
  const keyring = createKeyring({ kms: fileKms(world.kekPath), curve: openCurve() });
  return async (orgId: string, walletId: string) => {
    const row = await world.database.db.one<{
      version: number;
      kek_id: string;
      sealed: Buffer;
      key_index: number;
    }>(sql`
      select seeds.version, kek_id, sealed, key_index from seeds join wallets using (org_id)
      where org_id = ${orgId} and wallet_id = ${walletId}`);
    const seed = { orgId, version: row.version, keyId: row.kek_id, bytes: row.sealed };
    return keyring.withSeed(seed, (keys) => keys.address(row.key_index));
  };
}

/** A wish to sign a transfer that the ledger has posted. */
async function payable(orgId: string) {
  const [payer, payee] = [await create(orgId, "payer"), await create(orgId, "payee")];
  const ledgerRef = newId("trf");
  world.ledger.addTransfer({ orgId, ledgerRef, from: payer.walletId, to: payee.walletId, amountWon: 5n });
  return intentOf(orgId, ledgerRef, payer.walletId, payee, 5n);
}

/** The reason of the refusal, of each that was not signed. */
async function outcomesOf(intents: AuthorizationIntent[]): Promise<string[]> {
  const { signatures } = await world.client.signAuthorizations({ intents });
  return signatures.map(({ outcome }) =>
    outcome!.$case === "signature"
      ? "signature"
      : (JSON.parse(outcome!.value.detailsJson!) as { reason: string }).reason,
  );
}

/** A second call repairs the seed. */
async function spoilSeed(orgId: string): Promise<void> {
  await world.database.db.run(
    sql`update seeds set sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20)) where org_id = ${orgId}`,
  );
}

/** Stores a seed as the service does. */
async function plant(orgId: string, seed: Buffer): Promise<void> {
  const context = { orgId, objectId: "", purpose: "seed" as const, version: 1 };
  const { keyId, bytes } = await fileKms(world.kekPath).seal(seed, context);
  await world.database.db.run(
    sql`insert into seeds (org_id, version, kek_id, sealed) values (${orgId}, 1, ${keyId}, ${bytes})`,
  );
}

async function readAllRows(): Promise<string> {
  const tables = await world.database.db.query<{ name: string }>(
    sql`select quote_ident(table_name) as name from information_schema.tables where table_schema = 'wallet'`,
  );
  expect(tables.length).toBeGreaterThan(5);
  const texts = await Promise.all(
    tables.map(({ name }) => world.database.db.query(rawSql(`select t::text as text from ${name} t`))),
  );
  return JSON.stringify(texts);
}

function encodingsOf(secret: Buffer): string[] {
  const hex = secret.toString("hex");
  return [
    hex,
    hex.toUpperCase(),
    secret.toString("base64"),
    secret.toString("base64url"),
    secret.toString("latin1"),
    [...secret].join(","),
    BigInt(`0x${hex}`).toString(),
  ];
}

async function create(orgId: string, userId: string) {
  const wish = { orgId, userId, walletType: WalletType.NORMAL, metadata: {} };
  return (await world.client.createWallet(wish)).wallet!;
}

function intentOf(
  orgId: string,
  ledgerRef: string,
  fromWalletId: string,
  { walletAddress }: { walletAddress: string },
  amountWon: bigint,
) {
  return {
    orgId,
    ledgerRef,
    fromWalletId,
    toAddress: walletAddress,
    amountWon: amountWon.toString(),
    nonce: Buffer.alloc(32, 1),
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 600),
    chainId: BigInt(CHAIN_ID),
    tokenAddress: TOKEN,
    kind: AuthorizationKind.TRANSFER,
  };
}
