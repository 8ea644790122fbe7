import { newId } from "@wonrail/kit/contract/ids";
import { KeyIssued } from "@wonrail/proto/auth/events/v1/events";
import { openWorld, received, type World } from "../testing/world";

let world: World;

beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

const DAY_MS = 86_400_000;
const warn = () => world.app.warnExpiringKeys(new AbortController().signal);

/** Returns the id of the key. */
async function issue(orgId: string, days: number, issuedAt = new Date()): Promise<string> {
  const keyId = newId("key");
  const expiresAt = new Date(issuedAt.getTime() + days * DAY_MS);
  const grant = { name: "shop", scopes: ["payments:write"], allowedAddresses: [], apiVersion: "2026-01-01" };
  const key = { orgId, keyId, keyPrefix: "wk_test_1", issuedAt, expiresAt, ...grant };
  await world.project("projectKeys", [received("key_issued", orgId, keyId, KeyIssued.encode(key).finish())]);
  return keyId;
}

test("a key is published when it is issued, and once 14 and once 3 days before it expires", async () => {
  const orgId = newId("org");
  const [long, short, revoked] = [await issue(orgId, 90), await issue(orgId, 2), await issue(orgId, 90)];
  await world.project("projectKeys", [received("key_revoked", orgId, revoked, new Uint8Array())]);
  for (const days of [0, 75, 1, 0, 10, 2, 0, 3]) {
    await world.moveKeys(days);
    await warn();
  }
  const { events } = await world.list(orgId);
  expect(events.map(({ type, objectId }) => [type, objectId])).toEqual([
    ["api_key.issued", long],
    ["api_key.issued", short],
    ["api_key.issued", revoked],
    ["api_key.expiring", long],
    ["api_key.expiring", long],
  ]);
  expect(events[3]!.data).toMatchObject({ keyId: long, prefix: "wk_test_1", scopes: ["payments:write"] });
  expect(events[3]!.data).toEqual({ ...events[0]!.data, expiresAt: expect.any(String) });
});

test.each([
  ["after the key", false],
  ["before the key, which was issued earlier", true],
])("keys expire with the test clock whose advance is stored %s", async (_when, isAdvanceFirst) => {
  const [orgId, other] = [newId("org"), newId("org")];
  const issuedAt = new Date(Date.now() - 5_000);
  const advance = (days: number) => world.app.sandbox!.setClock({ orgId, offsetMs: days * DAY_MS });
  if (isAdvanceFirst) await advance(80);
  const keyId = await issue(orgId, 90, issuedAt);
  await issue(other, 90, issuedAt);
  if (!isAdvanceFirst) await advance(80);
  await warn();
  await advance(88);
  await warn();
  await advance(88);
  const later = await issue(orgId, 90, new Date(Date.now() + 5_000));
  await warn();
  const { events } = await world.list(orgId);
  expect(events.map(({ type, objectId }) => [type, objectId])).toEqual([
    ["api_key.issued", keyId],
    ["api_key.expiring", keyId],
    ["api_key.expiring", keyId],
    ["api_key.issued", later],
  ]);
  const endsAt = (days: number) => new Date(issuedAt.getTime() + (90 - days) * DAY_MS).toISOString();
  expect(events.slice(0, 3).map(({ data }) => data.expiresAt)).toEqual([endsAt(0), endsAt(80), endsAt(88)]);
  expect(events[2]!.data).toMatchObject({ keyId, issuedAt: issuedAt.toISOString() });
  expect((await world.list(other)).events.map(({ type }) => type)).toEqual(["api_key.issued"]);
});
