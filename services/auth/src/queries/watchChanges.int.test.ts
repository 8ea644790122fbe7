import { join } from "node:path";
import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { createTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { type ChangeFeed, openChangeFeed, type Word } from "./watchChanges";

const signal = new AbortController().signal;
let database: TestDatabase;
let feed: ChangeFeed;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  feed = await openChangeFeed(database.db, testLog());
});
afterAll(async () => {
  await feed.close();
  await database.drop();
});

test.each(["{", "null", '{"kind":"key_revoked"}', '{"kind":"reboot","orgId":"org_1"}'])(
  "a notification %j that is no change tells watchers to reload",
  async (payload) => {
    const watcher = watch();
    await watcher.next();
    await database.db.query(sql`select pg_notify('auth_changes', ${payload})`);
    await notifyRevocation(1, 1);
    expect((await watcher.next()).value).toEqual({ kind: "started" });
    expect((await watcher.next()).value).toMatchObject({ kind: "key_revoked", prefix: "1" });
    await watcher.return!();
  },
);

test("a watcher that lags receives a reload, then the later changes", async () => {
  const [slow, quick] = [watch(), watch()];
  for (const watcher of [slow, quick]) expect((await watcher.next()).value).toEqual({ kind: "started" });
  // Fills the watcher's queue, then adds one change.
  for (const [first, last] of [
    [1, 1_000],
    [1_001, 1_001],
  ] as const) {
    await notifyRevocation(first, last);
    await readTo(quick, last);
  }
  expect((await slow.next()).value).toEqual({ kind: "started" });
  expect(await readTo(slow, 1_001)).toBe(1);
});

test("a watcher counts until its stream ends", async () => {
  const before = feed.watchers;
  const [one, two] = [watch(), watch()];
  for (const watcher of [one, two]) await watcher.next();
  expect(feed.watchers).toBe(before + 2);
  for (const [watcher, left] of [
    [one, 1],
    [two, 0],
  ] as const) {
    await watcher.return!();
    expect(feed.watchers).toBe(before + left);
  }
});

test("a watch that starts while the process drains ends at once", async () => {
  feed.endWatches();
  expect(await watch().next()).toEqual({ done: true, value: undefined });
});

function watch(): AsyncIterator<Word> {
  return feed.watch(signal)[Symbol.asyncIterator]();
}

/** Notifies one revocation for each number; the number is the key's prefix. */
async function notifyRevocation(first: number, last: number): Promise<void> {
  await database.db.query(sql`
    select pg_notify('auth_changes', json_build_object(
      'kind', 'key_revoked', 'orgId', ${newId("org")}::text, 'keyId', ${newId("key")}::text, 'prefix', n::text)::text)
    from generate_series(${first}::int, ${last}::int) as n`);
}

/** Reads until the key with this prefix was revoked. Returns the number of revocations read. */
async function readTo(watcher: AsyncIterator<Word>, prefix: number): Promise<number> {
  for (let heard = 0; ;) {
    const word = (await watcher.next()).value as Word;
    if (word.kind !== "key_revoked") continue;
    heard += 1;
    if (Number(word.prefix) === prefix) return heard;
  }
}
