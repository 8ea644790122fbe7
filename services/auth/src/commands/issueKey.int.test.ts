import { join } from "node:path";
import { parseApiKey } from "@wonrail/kit/contract/apiKey";
import { type Scope } from "@wonrail/kit/contract/scopes";
import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";
import { type KeyGrant } from "../domain/grants";
import { newOrganisation } from "./testing/newOrganisation";

const CLIENT = "203.0.113.7";
const ALL: Scope[] = ["wallets:read", "payments:write", "keys:manage"];

let database: TestDatabase;
let auth: Operations;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  auth = createOperations({
    db: database.db,
    keyMode: "test",
    keyLifetimeMs: 3_600_000,
    keyOverlapMs: 60_000,
  });
});
afterAll(() => database.drop());

/** An organisation and one of its keys with this grant. */
async function managed(grant: Partial<KeyGrant> = { scopes: ALL }) {
  const { organisation, secretKey } = await newOrganisation(auth);
  const { key, apiKey } = await auth.issueKey({ code: organisation.code, grant, actor: "operator:test" });
  const { orgId } = organisation;
  const issue = (wanted: Partial<KeyGrant>, more: { expiresAt?: Date } = {}) =>
    auth.issueKeyByKey({ orgId, issuerKeyId: key.keyId, grant: wanted, clientAddress: CLIENT, ...more });
  return { orgId, code: organisation.code, secretKey, key, apiKey, issue };
}

test("a key issues a key that works with its own rights", async () => {
  const { orgId, code, key, issue } = await managed();
  const grant = { name: "shop", scopes: ["payments:write"], allowedAddresses: ["203.0.113.0/24"] } as const;
  const issued = await issue(grant);
  expect(issued.key).toMatchObject({ orgId, ...grant, apiVersion: "2026-01-01", predecessorId: null });
  const { caller } = await auth.resolveKey({
    presented: parseApiKey(issued.apiKey!)!,
    clientAddress: CLIENT,
  });
  expect(caller!.key).toMatchObject(grant);
  const [entry] = await auth.listAudit({ code, limit: 1 });
  expect(entry).toMatchObject({
    action: "key_issued",
    actor: `key:${key.prefix}`,
    subject: issued.key.prefix,
  });
  expect(JSON.parse(entry!.details)).toMatchObject({ ...grant, address: CLIENT });
});

test("a key cannot give a scope or an address that it lacks", async () => {
  const { issue } = await managed({ scopes: ALL, allowedAddresses: ["203.0.113.0/24"] });
  await expect(issue({ scopes: ["wallets:read", "wallets:write"] })).rejects.toMatchObject({
    ...{ code: "WAUTH_005", details: { scope: "wallets:write" } },
  });
  await expect(issue({ scopes: ALL, allowedAddresses: ["0.0.0.0/0"] })).rejects.toMatchObject({
    details: { fields: [{ path: "allowedAddresses[0]" }] },
  });
  expect((await issue({ scopes: ALL })).key.allowedAddresses).toEqual(["203.0.113.0/24"]);
});

test("a repetition gets the same key without its secret part, which is stored nowhere", async () => {
  const { orgId, key: issuer } = await managed();
  const keyed = { orgId, operation: "issueKey", key: "shop 1", requestHash: Buffer.alloc(32) };
  const issue = (scopes: Scope[], requestHash = keyed.requestHash) =>
    auth.issueKeyByKey({
      ...{ orgId, issuerKeyId: issuer.keyId, grant: { scopes }, clientAddress: CLIENT },
      keyed: { ...keyed, requestHash },
    });
  const first = await issue(["wallets:read"]);
  expect(first).toMatchObject({ apiKey: expect.stringMatching(/^wk_test_/) as string, replayed: false });
  expect(await issue(["wallets:read"])).toEqual({ key: first.key, apiKey: undefined, replayed: true });
  await expect(issue(ALL, Buffer.alloc(32, 1))).rejects.toMatchObject({ code: "REQ_003" });
  const { stored } = await database.db.one<{ stored: string }>(
    sql`select answer::text as stored from idempotency_keys where org_id = ${orgId}`,
  );
  expect(stored).not.toContain(first.apiKey!.slice(21));
  expect((await auth.getKeyPage(orgId, { limit: 9, offset: 0, after: null })).items).toHaveLength(3);
});

test("a key without keys:manage issues none, and a revoked key neither", async () => {
  const reader = await managed({ scopes: ["wallets:read"] });
  await expect(reader.issue({ scopes: ["wallets:read"] })).rejects.toMatchObject({
    ...{ code: "WAUTH_005", details: { scope: "keys:manage" } },
  });
  const { orgId, key, issue } = await managed();
  await auth.revokeKey({ orgId, keyId: key.keyId });
  await expect(issue({ scopes: ALL })).rejects.toMatchObject({ code: "WAUTH_001" });
});

test("a key replaces the secret key once for each Idempotency-Key, and the old one refreshes nothing", async () => {
  const { orgId, code, key, apiKey, secretKey: old } = await managed();
  const keyed = { orgId, operation: "rotateSecretKey", key: "leak 1", requestHash: Buffer.alloc(32) };
  const rotate = () => auth.rotateSecretKeyByKey({ orgId, keyId: key.keyId, clientAddress: CLIENT, keyed });
  const first = await rotate();
  expect(first).toMatchObject({ secretKey: expect.stringMatching(/^sk_test_/) as string, replayed: false });
  expect(await rotate()).toEqual({ ...first, secretKey: undefined, replayed: true });
  const presented = parseApiKey(apiKey)!;
  const refresh = (secretKey: string) => auth.refreshKey({ presented, secretKey, clientAddress: CLIENT });
  await expect(refresh(old)).rejects.toMatchObject({ code: "WAUTH_001" });
  expect((await refresh(first.secretKey!)).key.predecessorId).toBe(key.keyId);
  const rotations = (await auth.listAudit({ code, limit: 9 })).filter(
    ({ action }) => action === "secret_key_rotated",
  );
  expect(rotations).toMatchObject([
    { actor: `key:${key.prefix}`, details: JSON.stringify({ address: CLIENT }) },
  ]);
});

test("a key without keys:manage, a revoked key and another organisation's key replace no secret key", async () => {
  const [reader, revoked, other] = [
    await managed({ scopes: ["wallets:read"] }),
    await managed(),
    await managed(),
  ];
  await auth.revokeKey({ orgId: revoked.orgId, keyId: revoked.key.keyId });
  for (const [orgId, keyId, code] of [
    [reader.orgId, reader.key.keyId, "WAUTH_005"],
    [revoked.orgId, revoked.key.keyId, "WAUTH_001"],
    [reader.orgId, other.key.keyId, "WAUTH_001"],
  ] as const)
    await expect(auth.rotateSecretKeyByKey({ orgId, keyId, clientAddress: CLIENT })).rejects.toMatchObject({
      code,
    });
});

test("an issued key expires within the usual lifetime", async () => {
  const { issue } = await managed();
  for (const ms of [-1_000, 3_700_000])
    await expect(issue({ scopes: ALL }, { expiresAt: new Date(Date.now() + ms) })).rejects.toMatchObject({
      ...{ code: "REQ_001", details: { fields: [{ path: "expiresAt" }] } },
    });
  const expiresAt = new Date(Date.now() + 600_000);
  expect((await issue({ scopes: ALL }, { expiresAt })).key.expiresAt).toEqual(expiresAt);
});

test("the key after 100 usable keys is refused", async () => {
  const { orgId, issue } = await managed();
  for (let keys = 2; keys < 100; keys += 1) await issue({ scopes: ALL });
  await expect(issue({ scopes: ALL })).rejects.toMatchObject({ code: "WAUTH_008", details: { limit: 100 } });
  const { info } = await auth.getKeyPage(orgId, { limit: 1, offset: 0, after: null });
  expect(info.totalCount).toBe(100);
});

test("a refresh keeps name, scopes, addresses and version, and refuses other addresses", async () => {
  const grant = { name: "till 4", scopes: ["payments:write"], allowedAddresses: [CLIENT] } as const;
  const { apiKey, secretKey, key } = await managed(grant);
  const refresh = (clientAddress: string) =>
    auth.refreshKey({ presented: parseApiKey(apiKey)!, secretKey, clientAddress });
  await expect(refresh("198.51.100.1")).rejects.toMatchObject({
    ...{ code: "WAUTH_006", details: { address: "198.51.100.1" } },
  });
  const { key: successor } = await refresh(CLIENT);
  expect(successor).toMatchObject({ ...grant, apiVersion: key.apiVersion, predecessorId: key.keyId });
});

test("a key revokes another with its successors, and the trail names both", async () => {
  const { orgId, code, secretKey, key: manager } = await managed();
  const old = await auth.issueKey({ code, actor: "operator:test" });
  const { key: successor } = await auth.refreshKey({
    ...{ presented: parseApiKey(old.apiKey)!, secretKey, clientAddress: CLIENT },
  });
  const revoke = (keyId = old.key.keyId) =>
    auth.revokeKey({ orgId, keyId, withSuccessors: true, actor: { keyId: manager.keyId } });
  const first = await revoke();
  expect(first.keyIds).toEqual([old.key.keyId, successor.keyId]);
  expect(first.prefixes).toEqual([old.key.prefix, successor.prefix]);
  expect(await revoke()).toEqual({ ...first, prefixes: [] });
  const trail = await auth.listAudit({ code, limit: 2 });
  expect(trail.map(({ action, actor }) => [action, actor])).toEqual(
    Array(2).fill(["key_revoked", `key:${manager.prefix}`]),
  );
  await expect(revoke(newId("key"))).rejects.toMatchObject({ code: "WAUTH_007" });
});

test("keys are listed newest first, and the last use is written in batches", async () => {
  const { orgId, key, apiKey } = await managed();
  const lastUsed = async () => (await auth.getKey(orgId, key.keyId)).key.lastUsedAt;
  await auth.resolveKey({ presented: parseApiKey(apiKey)!, clientAddress: CLIENT });
  expect(await lastUsed()).toBeNull();
  await auth.writeKeyUses();
  const used = await lastUsed();
  expect(Math.abs(used!.getTime() - Date.now())).toBeLessThan(60_000);
  // A write without a new use changes nothing.
  await auth.writeKeyUses();
  expect(await lastUsed()).toEqual(used);
  const { items } = await auth.getKeyPage(orgId, { limit: 1, offset: 0, after: null });
  expect(items.map(({ keyId }) => keyId)).toEqual([key.keyId]);
  const next = await auth.getKeyPage(orgId, { limit: 5, offset: 0, after: key.keyId });
  expect(next.items).toHaveLength(1);
});

test("another organisation's key is absent", async () => {
  const [ours, theirs] = [await managed(), await managed()];
  await expect(auth.getKey(ours.orgId, theirs.key.keyId)).rejects.toMatchObject({ code: "WAUTH_007" });
  const actor = { keyId: ours.key.keyId };
  await expect(auth.revokeKey({ orgId: ours.orgId, keyId: theirs.key.keyId, actor })).rejects.toMatchObject({
    code: "WAUTH_007",
  });
});
