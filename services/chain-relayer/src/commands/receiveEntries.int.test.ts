import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { type Backlog, createBacklog, receiveEntries } from "./receiveEntries";
import { freshDatabase } from "./testing/database";
import { entryEvent } from "./testing/entryEvents";

const database = freshDatabase();
const [ORG, OTHER] = [newId("org"), newId("org")];

test("behind a long backlog what the bus brings goes on the shelf, for each organisation by itself", async () => {
  const backlog = createBacklog(() => 0, 2);
  await receive(backlog, [charge(ORG), charge(OTHER)]);
  expect(await counts()).toEqual({ operations: 2, shelved: [] });
  const known = createBacklog(() => 0, 2);
  await receive(known, [charge(ORG), charge(OTHER), charge(ORG)]);
  expect(await counts()).toEqual({ operations: 2, shelved: [ORG, 2, OTHER, 1] });
});

test("one that comes alone is taken in at once, however much waits", async () => {
  await receive({ isLong: () => Promise.resolve(true) }, [charge(ORG)]);
  expect(await counts()).toEqual({ operations: 1, shelved: [] });
});

test("an organisation's lane is there with its first entry, also when that goes on the shelf", async () => {
  await receive({ isLong: () => Promise.resolve(true) }, [charge(ORG), charge(ORG)]);
  expect(await database.db.query(sql`select org_id from lanes`)).toEqual([{ org_id: ORG }]);
});

test("while anything is on the shelf what comes goes behind it, although few operations wait", async () => {
  await receive({ isLong: () => Promise.resolve(true) }, [charge(ORG), charge(ORG)]);
  await receive(
    createBacklog(() => 0, 100),
    [charge(OTHER), charge(OTHER)],
  );
  expect(await counts()).toEqual({ operations: 0, shelved: [ORG, 2, OTHER, 2] });
});

test("how much waits is looked up once a second", async () => {
  let nowMs = 0;
  const backlog = createBacklog(() => nowMs, 1);
  const isLong = () => backlog.isLong(database.db);
  expect(await isLong()).toBe(false);
  await receive({ isLong: () => Promise.resolve(false) }, [charge(ORG)]);
  nowMs = 999;
  expect(await isLong()).toBe(false);
  nowMs = 1_000;
  expect(await isLong()).toBe(true);
  await database.db.run(sql`update operations set state = 'PASSED'`);
  nowMs = 1_999;
  expect(await isLong()).toBe(true);
  nowMs = 2_000;
  expect(await isLong()).toBe(false);
});

function charge(orgId: string): ReceivedEvent {
  return entryEvent(orgId, newId("chg"), [newId("wal"), 5n, 1n]);
}

function receive(backlog: Backlog, events: ReceivedEvent[]): Promise<void> {
  return tx(database.db, (tx) => receiveEntries(tx, events, backlog));
}

async function counts(): Promise<{ operations: number; shelved: (string | number)[] }> {
  const { count } = await database.db.one<{ count: bigint }>(sql`select count(*) from operations`);
  const rows = await database.db.query<{ org_id: string; entries: number }>(
    sql`select org_id, entries from shelved_entries order by shelf_id`,
  );
  return { operations: Number(count), shelved: rows.flatMap(({ org_id, entries }) => [org_id, entries]) };
}
