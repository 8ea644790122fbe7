import { join } from "node:path";
import { parseApiKey } from "@wonrail/kit/contract/apiKey";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";
import { newOrganisation } from "./testing/newOrganisation";

const LIFETIME_MS = 90 * 86_400_000;
let database: TestDatabase;
let auth: Operations;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  const rules = { keyMode: "test", keyLifetimeMs: LIFETIME_MS, keyOverlapMs: 600_000 } as const;
  auth = createOperations({ db: database.db, ...rules });
});
afterAll(() => database.drop());

test("an advance brings the ends of keys nearer, leaves their issue, and is repeated without effect", async () => {
  const { apiKey, key, organisation } = await newOrganisation(auth);
  const caller = { orgId: organisation.orgId, keyId: key.keyId };
  const to = new Date(Date.now() + 30 * 86_400_000);
  const first = await auth.advanceClock({ ...caller, to });
  const again = await auth.advanceClock({ ...caller, to });
  expect(again.offsetMs).toBe(first.offsetMs);
  expect(Math.abs(first.now.getTime() + first.offsetMs - to.getTime())).toBeLessThan(1);
  const moved = (await auth.getKey(organisation.orgId, key.keyId)).key;
  expect(moved.expiresAt.getTime()).toBe(key.expiresAt.getTime() - first.offsetMs);
  expect(moved.issuedAt).toEqual(key.issuedAt);
  expect(await accessOf(apiKey)).toBe("FULL");
  const read = await auth.advanceClock({ ...caller, to: null });
  expect(read.offsetMs).toBe(first.offsetMs);
});

test("a key that the clock has outlived is refreshed, and its successor lives its whole life", async () => {
  const { apiKey, secretKey, key, organisation } = await newOrganisation(auth);
  const stranger = await newOrganisation(auth);
  const to = new Date(Date.now() + 2 * LIFETIME_MS);
  await auth.advanceClock({ orgId: organisation.orgId, keyId: key.keyId, to });
  expect(await accessOf(apiKey)).toBe("REFRESH");
  expect(await accessOf(stranger.apiKey)).toBe("FULL");
  const refreshed = await auth.refreshKey({
    ...{ presented: parseApiKey(apiKey)!, secretKey, clientAddress: "192.0.2.1" },
  });
  expect(await accessOf(refreshed.apiKey)).toBe("FULL");
  expect(refreshed.key.expiresAt.getTime() - refreshed.key.issuedAt.getTime()).toBe(LIFETIME_MS);
});

test("a clock is at most ten years ahead, and belongs to an organisation's own key", async () => {
  const { key, organisation } = await newOrganisation(auth);
  const other = await newOrganisation(auth);
  const far = {
    orgId: organisation.orgId,
    keyId: key.keyId,
    to: new Date(Date.now() + 11 * 365 * 86_400_000),
  };
  await expect(auth.advanceClock(far)).rejects.toMatchObject({ code: "REQ_001" });
  const foreign = { orgId: organisation.orgId, keyId: other.key.keyId, to: null };
  await expect(auth.advanceClock(foreign)).rejects.toMatchObject({ code: "WAUTH_001" });
});

test("an expired key can only be refreshed, also when it is expired again, and a foreign key is absent", async () => {
  const { apiKey, secretKey, key, organisation } = await newOrganisation(auth);
  const other = await newOrganisation(auth);
  const wanted = { orgId: organisation.orgId, keyId: key.keyId, issuerKeyId: key.keyId };
  const { key: ended } = await auth.expireKey(wanted);
  expect(await accessOf(apiKey)).toBe("REFRESH");
  expect((await auth.expireKey(wanted)).key.expiresAt).toEqual(ended.expiresAt);
  const presented = parseApiKey(apiKey)!;
  const refreshed = await auth.refreshKey({ presented, secretKey, clientAddress: "192.0.2.1" });
  expect(await accessOf(refreshed.apiKey)).toBe("FULL");
  for (const keyId of [other.key.keyId, newId("key")])
    await expect(auth.expireKey({ ...wanted, keyId })).rejects.toMatchObject({ code: "WAUTH_007" });
  expect(await accessOf(other.apiKey)).toBe("FULL");
});

async function accessOf(apiKey: string): Promise<string> {
  const resolved = await auth.resolveKey({ presented: parseApiKey(apiKey)!, clientAddress: "192.0.2.1" });
  return resolved.standing.access;
}
