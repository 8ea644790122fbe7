import { join } from "node:path";
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

test("a watcher that does not keep up is told to start afresh, and then what came since", async () => {
  const [slow, quick] = [watch(), watch()];
  for (const watcher of [slow, quick]) expect((await watcher.next()).value).toEqual({ kind: "started" });
  // As many as are kept for it, and when they have come, one more.
  for (const [first, last] of [
    [1, 1_000],
    [1_001, 1_001],
  ] as const) {
    await database.db.query(sql`
      select pg_notify('auth_changes', json_build_object('kind', 'key_revoked', 'prefix', n)::text)
      from generate_series(${first}::int, ${last}::int) as n`);
    await readTo(quick, last);
  }
  expect((await slow.next()).value).toEqual({ kind: "started" });
  expect(await readTo(slow, 1_001)).toBe(1);
});

test("who watches is counted until he goes", async () => {
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

test("who begins to watch while the door is being shut is sent elsewhere at once", async () => {
  feed.endWatches();
  expect(await watch().next()).toEqual({ done: true, value: undefined });
});

function watch(): AsyncIterator<Word> {
  return feed.watch(signal)[Symbol.asyncIterator]();
}

/** Reads until it hears of this key, and answers of how many it has heard by then. */
async function readTo(watcher: AsyncIterator<Word>, prefix: number): Promise<number> {
  for (let heard = 0; ;) {
    const word = (await watcher.next()).value as Word;
    if (word.kind !== "key_revoked") continue;
    heard += 1;
    if (Number(word.prefix) === prefix) return heard;
  }
}
