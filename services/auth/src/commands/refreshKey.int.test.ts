import { join } from "node:path";
import { createApiKey, createSecretKey, parseApiKey } from "@wonrail/kit/contract/apiKey";
import { DomainError } from "@wonrail/kit/contract/errors";
import { rawSql, type Sql, sql, tx } from "@wonrail/kit/db";
import { idToUuid } from "@wonrail/kit/contract/ids";
import { createTestDatabase, eventually, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";
import { statusOf } from "../domain/keys";
import { type Organisation } from "../domain/organisations";
import { newOrganisation } from "./testing/newOrganisation";

const LIFETIME_MS = 3_600_000;
const OVERLAP_MS = 600_000;

let database: TestDatabase;
let auth: Operations;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  auth = operationsWith(OVERLAP_MS);
});
afterAll(() => database.drop());

test("issues a new key that works at once, and the old one works until its overlap ends", async () => {
  const { apiKey, secretKey } = await newOrganisation(auth);
  const refreshed = await refresh(apiKey, secretKey);
  expect(refreshed.apiKey).not.toBe(apiKey);
  expect(await accessOf(refreshed.apiKey)).toBe("FULL");
  expect(await accessOf(apiKey)).toBe("FULL");
  const overlapMs = refreshed.oldKeyUsableUntil!.getTime() - refreshed.key.issuedAt.getTime();
  expect(overlapMs).toBe(OVERLAP_MS);
  expect(refreshed.key.expiresAt.getTime() - refreshed.key.issuedAt.getTime()).toBe(LIFETIME_MS);
});

test("ends the old key with its overlap, and still accepts it for a refresh", async () => {
  const hasty = operationsWith(0);
  const { apiKey, secretKey } = await newOrganisation(auth);
  const first = await hasty.refreshKey(inputOf(apiKey, secretKey));
  expect(await accessOf(apiKey)).toBe("REFRESH");
  const again = await hasty.refreshKey(inputOf(apiKey, secretKey));
  expect(again.apiKey).toBe(first.apiKey);
});

test("never lets the old key outlive its own expiry", async () => {
  const { organisation, secretKey } = await newOrganisation(auth);
  const expiresAt = new Date(Date.now() + 60_000);
  const { apiKey } = await auth.issueKey({ code: organisation.code, expiresAt, actor: "operator:test" });
  const { oldKeyUsableUntil } = await refresh(apiKey, secretKey);
  expect(oldKeyUsableUntil).toEqual(expiresAt);
});

test("accepts an expired key", async () => {
  const { key, apiKey, secretKey } = await newOrganisation(auth);
  await database.db.run(sql`
    update api_keys set issued_at = now() - interval '1 day', expires_at = now() - interval '1 second'
    where prefix = ${key.prefix}`);
  expect(await accessOf(apiKey)).toBe("REFRESH");
  const refreshed = await refresh(apiKey, secretKey);
  expect(refreshed.oldKeyUsableUntil).toBeNull();
  expect(await accessOf(refreshed.apiKey)).toBe("FULL");
});

test("fifty concurrent refreshes on two replicas return the same new key", async () => {
  const { organisation, apiKey, secretKey } = await newOrganisation(auth);
  const other = openTestDatabase(database.url, "auth");
  const replicas = [auth, createOperations({ ...rules(OVERLAP_MS), db: other })];
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => replicas[i % 2]!.refreshKey(inputOf(apiKey, secretKey))),
  );
  await other.close();
  expect(new Set(answers.map((answer) => answer.apiKey)).size).toBe(1);
  const { keys, now } = await auth.listKeys({ code: organisation.code, limit: 100 });
  expect(keys.map((key) => statusOf(key, now))).toEqual(["CURRENT", "OVERLAP"]);
});

test("fifty consecutive refreshes work, and every key between works until its overlap ends", async () => {
  const { apiKey, secretKey } = await newOrganisation(auth);
  const keys = [apiKey];
  for (let i = 0; i < 50; i += 1) keys.push((await refresh(keys.at(-1)!, secretKey)).apiKey);
  for (const key of keys) expect(await accessOf(key)).toBe("FULL");
  // A caller that missed the later keys gets the newest one with the first key.
  expect((await refresh(apiKey, secretKey)).apiKey).toBe(keys.at(-1));
});

test("refuses more than a hundred usable keys", async () => {
  const { organisation, apiKey, secretKey } = await newOrganisation(auth);
  await database.db.run(sql`
    insert into api_keys (org_id, key_id, lineage_id, prefix, key_hash, version, issued_at, expires_at, name,
      scopes, allowed_addresses, api_version)
    select o.org_id, i.id, i.id, 'wk_test_' || i.id, sha256('x'), 1, now(), now() + interval '1 minute',
      'key', '{wallets:read}', '{}', '2026-01-01'
    from organisations o, (select gen_random_uuid() as id from generate_series(1, 99)) i
    where o.code = ${organisation.code}`);
  const refusal = await refusalOf(refresh(apiKey, secretKey));
  expect(refusal.code).toBe("RATE_001");
  expect(refusal.details!.retryAfterMs).toBeGreaterThan(50_000);
  const issued = auth.issueKey({ code: organisation.code, actor: "operator:test" });
  expect((await refusalOf(issued)).code).toBe("REQ_001");
});

describe("a revoked key", () => {
  test("cannot be refreshed, with the answer of an unknown key", async () => {
    const { organisation, key, apiKey, secretKey } = await newOrganisation(auth);
    await auth.revokeKey({ orgId: organisation.orgId, keyId: key.keyId, actor: "operator:test" });
    expect((await refusalOf(refresh(apiKey, secretKey))).code).toBe("WAUTH_001");
    expect(await accessOf(apiKey)).toBe("NONE");
  });

  test("keeps its first end when it is revoked again", async () => {
    const { organisation, key } = await newOrganisation(auth);
    const input = { orgId: organisation.orgId, keyId: key.keyId, actor: "operator:test" };
    const first = await auth.revokeKey(input);
    expect(await auth.revokeKey(input)).toEqual({ ...first, prefixes: [] });
    const trail = await auth.listAudit({ code: organisation.code, limit: 10 });
    expect(trail.filter(({ action }) => action === "key_revoked")).toHaveLength(1);
  });

  test("leaves its successor valid, and a revoked successor can be replaced from the old key", async () => {
    const { organisation, key, apiKey, secretKey } = await newOrganisation(auth);
    const first = await refresh(apiKey, secretKey);
    const revoke = (keyId: typeof key.keyId) =>
      auth.revokeKey({ orgId: organisation.orgId, keyId, actor: "operator:test" });
    await revoke(first.key.keyId);
    const second = await refresh(apiKey, secretKey);
    expect(second.apiKey).not.toBe(first.apiKey);
    await revoke(key.keyId);
    expect(await accessOf(second.apiKey)).toBe("FULL");
  });

  test("ends revoked in a race with its refresh", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { organisation, key, apiKey, secretKey } = await newOrganisation(auth);
      const [refreshed] = await Promise.allSettled([
        refresh(apiKey, secretKey),
        auth.revokeKey({ orgId: organisation.orgId, keyId: key.keyId, actor: "operator:test" }),
      ]);
      expect(await accessOf(apiKey)).toBe("NONE");
      if (refreshed.status === "fulfilled") expect(await accessOf(refreshed.value.apiKey)).toBe("FULL");
      else expect(refreshed.reason).toMatchObject({ code: "WAUTH_001" });
    }
  });
});

describe("a refresh that waits for the organisation's lock", () => {
  test.each([
    ["the key is revoked", sql`update api_keys set revoked_at = now()`],
    ["the secret is rotated", sql`update organisations set secret_key_hash = sha256('another')`],
  ])("is refused when %s meanwhile", async (_, change) => {
    const { organisation, apiKey, secretKey } = await newOrganisation(auth);
    const { work } = await whileLocked(organisation, () => refresh(apiKey, secretKey), change);
    expect((await refusalOf(work)).code).toBe("WAUTH_001");
  });

  test("uses the time at which it gets the lock", async () => {
    const { organisation, apiKey, secretKey } = await newOrganisation(auth);
    const { work, unlockedAt } = await whileLocked(organisation, () => refresh(apiKey, secretKey));
    const { key } = await work;
    expect(key.issuedAt.getTime()).toBeGreaterThanOrEqual(unlockedAt.getTime());
  });

  /** Locks the organisation, starts the work, and applies a change while the work waits. */
  async function whileLocked<T>({ orgId }: Organisation, begin: () => Promise<T>, change?: Sql) {
    const of = sql`where org_id = ${idToUuid(orgId)}`;
    return tx(database.db, async (tx) => {
      await tx.run(sql`select from organisations ${of} for update`);
      const work = begin();
      work.catch(() => undefined);
      await eventually(async () => {
        const waiting = await database.db.query(sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
        expect(waiting).toHaveLength(1);
      });
      if (change) await tx.run(sql`${change} ${of}`);
      const { at } = await tx.one<{ at: Date }>(sql`select clock_timestamp() as at`);
      return { work, unlockedAt: at };
    });
  }
});

describe("wrong credentials", () => {
  test("are refused alike: an unknown key, a wrong secret, another organisation's secret, nonsense", async () => {
    const one = await newOrganisation(auth);
    const two = await newOrganisation(auth);
    const unknown = createApiKey("test").text;
    for (const [apiKey, secretKey] of [
      [unknown, one.secretKey],
      [one.apiKey, createSecretKey("test").text],
      [one.apiKey, two.secretKey],
      [one.apiKey, "not a secret"],
      [one.apiKey, ""],
    ] as const) {
      const refusal = await refusalOf(refresh(apiKey, secretKey));
      expect([refusal.code, refusal.details]).toEqual(["WAUTH_001", null]);
    }
  });

  test("include a key's prefix with another body, also beside the right secret", async () => {
    const { apiKey, secretKey } = await newOrganisation(auth);
    const guessed = { ...parseApiKey(apiKey)!, hash: createApiKey("test").hash };
    const refreshed = auth.refreshKey({ ...inputOf(apiKey, secretKey), presented: guessed });
    expect((await refusalOf(refreshed)).code).toBe("WAUTH_001");
  });

  test("are throttled per key, while the right ones still work", async () => {
    const { apiKey, secretKey } = await newOrganisation(auth);
    const codes: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      const wrong = inputOf(apiKey, createSecretKey("test").text, `198.51.100.${i}`);
      codes.push((await refusalOf(auth.refreshKey(wrong))).code);
    }
    expect(codes).toEqual([...Array<string>(10).fill("WAUTH_001"), "RATE_001", "RATE_001"]);
    expect(await accessOf((await refresh(apiKey, secretKey)).apiKey)).toBe("FULL");
  });
});

test("refreshes count against the organisation's rate", async () => {
  const { organisation, apiKey, secretKey } = await newOrganisation(auth);
  const change = { ratePerSecond: 1, rateBurst: 2 };
  await auth.setOrganisation({ code: organisation.code, change, actor: "operator:test" });
  const startedMs = Date.now();
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => refresh(apiKey, secretKey)));
  const elapsedSeconds = (Date.now() - startedMs) / 1_000;
  const refusals = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(20 - refusals.length).toBeGreaterThanOrEqual(2);
  expect(20 - refusals.length).toBeLessThanOrEqual(2 + elapsedSeconds + 1);
  for (const { reason } of refusals as { reason: DomainError }[]) {
    expect(reason.code).toBe("RATE_001");
    expect(reason.details!.retryAfterMs).toBeLessThanOrEqual(1_000);
  }
});

test("only the new secret key refreshes after a rotation, and the API keys stay valid", async () => {
  const { organisation, apiKey, secretKey: oldSecret } = await newOrganisation(auth);
  const before = await refresh(apiKey, oldSecret);
  const { secretKey } = await auth.rotateSecretKey({ code: organisation.code, actor: "operator:test" });
  expect((await refusalOf(refresh(apiKey, oldSecret))).code).toBe("WAUTH_001");
  // The new secret does not derive the first successor, so another key is issued. The first stays
  // valid for its overlap.
  const after = await refresh(apiKey, secretKey);
  expect(after.apiKey).not.toBe(before.apiKey);
  for (const { apiKey: works } of [before, after]) expect(await accessOf(works)).toBe("FULL");
  expect((await refresh(apiKey, secretKey)).apiKey).toBe(after.apiKey);
  const trail = await auth.listAudit({ code: organisation.code, limit: 10 });
  expect(trail).toContainEqual(
    expect.objectContaining({ action: "secret_key_rotated", actor: "operator:test" }),
  );
});

test("a leaked organisation recovers by suspension, a new secret and the revocation of every key", async () => {
  const { organisation, key, apiKey, secretKey } = await newOrganisation(auth);
  const { orgId, code } = organisation;
  const actor = "operator:test";
  await auth.setOrganisation({ code, change: { status: "SUSPENDED" }, actor });
  await database.db.run(sql`
    update api_keys set issued_at = now() - interval '1 day', expires_at = now() - interval '1 second'
    where prefix = ${key.prefix}`);
  const stolen = await refresh(apiKey, secretKey);
  await auth.revokeKey({ orgId, keyId: stolen.key.keyId, actor });
  const another = await refresh(apiKey, secretKey);
  await auth.rotateSecretKey({ code, actor });
  for (const { keyId } of (await auth.listKeys({ code, limit: 100 })).keys)
    await auth.revokeKey({ orgId, keyId, actor });
  await auth.setOrganisation({ code, change: { status: "ACTIVE" }, actor });
  for (const known of [apiKey, stolen.apiKey, another.apiKey]) {
    expect((await refusalOf(refresh(known, secretKey))).code).toBe("WAUTH_001");
    expect(await accessOf(known)).toBe("NONE");
  }
});

test("a key that is given again is audited with the presented key and the address", async () => {
  const { organisation, key, apiKey, secretKey } = await newOrganisation(auth);
  const first = await refresh(apiKey, secretKey);
  await auth.refreshKey(inputOf(apiKey, secretKey, "198.51.100.9"));
  const [entry] = await auth.listAudit({ code: organisation.code, limit: 1 });
  expect(entry).toMatchObject({
    action: "key_given_again",
    actor: `key:${key.prefix}`,
    subject: first.key.prefix,
  });
  expect(JSON.parse(entry!.details)).toEqual({ presented: key.prefix, address: "198.51.100.9" });
});

test("each refresh writes its audit entry and its events in one transaction, with consecutive versions", async () => {
  const { organisation, key, apiKey, secretKey } = await newOrganisation(auth);
  const refreshed = await refresh(apiKey, secretKey);
  await auth.revokeKey({ orgId: organisation.orgId, keyId: key.keyId, actor: "operator:test" });
  const events = await database.db.query<{ type: string; aggregate_id: string; version: bigint }>(sql`
    select type, aggregate_id, version from outbox where org_id = ${organisation.orgId} order by id`);
  expect(events.map((event) => [event.type, event.aggregate_id, event.version])).toEqual([
    ["organisation_changed", organisation.orgId, 1n],
    ["key_issued", key.keyId, 1n],
    ["key_refreshed", key.keyId, 2n],
    ["key_issued", refreshed.key.keyId, 1n],
    ["key_revoked", key.keyId, 3n],
  ]);
  const trail = await auth.listAudit({ code: organisation.code, limit: 10 });
  expect(trail.map(({ action, actor }) => [action, actor])).toEqual([
    ["key_revoked", "operator:test"],
    ["key_refreshed", `key:${key.prefix}`],
    ["organisation_created", "operator:test"],
  ]);
});

test("a failure between any two statements changes nothing", async () => {
  const { apiKey, secretKey } = await newOrganisation(auth);
  const owner = openTestDatabase(database.ownerUrl, "auth", { max: 1 });
  const state = () =>
    database.db.query(sql`
      select 'key' as kind, count(*), max(version) from api_keys union all
      select 'audit', count(*), max(sequence) from audit_entries union all
      select 'head', count(*), sum(sequence) from audit_heads union all
      select 'event', count(*), null from outbox order by kind`);
  const before = await state();
  // In the order in which a refresh writes. Each trigger dies where the process could.
  for (const table of ["api_keys", "audit_entries", "audit_heads", "outbox", "outbox_pending"]) {
    await owner.run(
      rawSql(`
      create function die_${table}() returns trigger language plpgsql as $$ begin raise 'killed'; end $$;
      create trigger die after insert or update on ${table} for each row execute function die_${table}()`),
    );
    await expect(refresh(apiKey, secretKey)).rejects.toThrow("killed");
    await owner.run(rawSql(`drop trigger die on ${table}; drop function die_${table}`));
    expect(await state()).toEqual(before);
  }
  await owner.close();
  expect(await accessOf((await refresh(apiKey, secretKey)).apiKey)).toBe("FULL");
  expect((await auth.verifyAudit()).problems).toEqual([]);
});

test("the database holds no part of a key or secret", async () => {
  const { apiKey, secretKey } = await newOrganisation(auth);
  const refreshed = await refresh(apiKey, secretKey);
  const tables = await database.db.query<{ name: string }>(sql`
    select table_name as name from information_schema.tables where table_schema = 'auth'`);
  const rows = await Promise.all(
    tables.map(({ name }) =>
      database.db.query<{ row: string }>(sql`select t::text as row from ${sql.identifier(name)} t`),
    ),
  );
  const dump = rows
    .flat()
    .map(({ row }) => row)
    .join("\n");
  expect(dump).toContain(parseApiKey(refreshed.apiKey)!.prefix);
  for (const secret of [apiKey.slice(21), refreshed.apiKey.slice(21), secretKey.slice(8)]) {
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(secret.slice(0, 16));
    expect(dump).not.toContain(Buffer.from(secret).toString("hex"));
    expect(dump).not.toContain(Buffer.from(secret).toString("base64"));
  }
});

function rules(keyOverlapMs: number) {
  return { keyMode: "test" as const, keyLifetimeMs: LIFETIME_MS, keyOverlapMs };
}

function operationsWith(keyOverlapMs: number): Operations {
  return createOperations({ db: database.db, ...rules(keyOverlapMs) });
}

function inputOf(apiKey: string, secretKey: string, clientAddress = "192.0.2.1") {
  return { presented: parseApiKey(apiKey)!, secretKey, clientAddress };
}

function refresh(apiKey: string, secretKey: string) {
  return auth.refreshKey(inputOf(apiKey, secretKey));
}

async function accessOf(apiKey: string): Promise<string> {
  const { standing } = await auth.resolveKey({ presented: parseApiKey(apiKey)!, clientAddress: "192.0.2.2" });
  return standing.access;
}

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const error = await work.then(
    () => new Error("nothing was refused"),
    (reason: unknown) => reason,
  );
  if (error instanceof DomainError) return error;
  throw error;
}
