import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { setLanePause } from "../store/settlementQueues";
import { type Backlog, createBacklog, receiveEntries } from "./receiveEntries";
import { freshDatabase } from "../../testing/database";
import { entryEvent, LONG_BACKLOG, received } from "../../testing/entryEvents";

const database = freshDatabase();
const [ORG, OTHER] = [newId("org"), newId("org")].sort() as [string, string];

test("behind a long backlog what the bus brings goes on the shelf, for each organisation by itself", async () => {
  const backlog = createBacklog(() => 0, 2);
  await receive(backlog, [charge(ORG), charge(OTHER)]);
  expect(await counts()).toEqual({ operations: 2, shelved: [] });
  const known = createBacklog(() => 0, 2);
  await receive(known, [charge(ORG), charge(OTHER), charge(ORG)]);
  expect(await counts()).toEqual({ operations: 2, shelved: [ORG, 2, OTHER, 1] });
});

test("one that comes alone is taken in at once, however much waits", async () => {
  await receive(LONG_BACKLOG, [charge(ORG)]);
  expect(await counts()).toEqual({ operations: 1, shelved: [] });
});

test("an organisation's lane is there with its first entry, also when that goes on the shelf", async () => {
  await receive(LONG_BACKLOG, [charge(ORG), charge(ORG)]);
  expect(await database.db.query(sql`select org_id from lanes`)).toEqual([{ org_id: ORG }]);
});

test("what comes goes behind what has been on the shelf of the same organisation for a while, although few operations wait", async () => {
  await receive(LONG_BACKLOG, [charge(ORG), charge(ORG)]);
  const receiveMore = () =>
    receive(
      createBacklog(() => 0, 100),
      [charge(OTHER), charge(ORG), charge(OTHER)],
    );
  // What is taken off as soon as it is there is none: a busy organisation would never leave the shelf.
  await receiveMore();
  expect(await counts()).toEqual({ operations: 3, shelved: [ORG, 2] });
  await database.db.run(sql`update shelved_entries set shelved_at = shelved_at - interval '6 seconds'`);
  await receiveMore();
  expect(await counts()).toEqual({ operations: 5, shelved: [ORG, 2, ORG, 1] });
});

test("what waits behind a paused lane sends nobody else's entries to the shelf", async () => {
  await receive(
    createBacklog(() => 0, 100),
    [charge(ORG), charge(ORG), charge(OTHER)],
  );
  await setLanePause(database.db, ORG, "asked to");
  const batch = () => [charge(OTHER), charge(ORG)];
  await receive(
    createBacklog(() => 0, 4),
    batch(),
  );
  expect(await counts()).toEqual({ operations: 5, shelved: [] });
  await receive(
    createBacklog(() => 0, 5),
    batch(),
  );
  expect(await counts()).toEqual({ operations: 6, shelved: [ORG, 1] });
  await setLanePause(database.db, ORG, null);
  await receive(
    createBacklog(() => 0, 5),
    batch(),
  );
  expect((await counts()).operations).toBe(6);
});

test("how much waits is looked up once a second, and every four while it is long", async () => {
  let nowMs = 0;
  const backlog = createBacklog(() => nowMs, 1);
  const isLong = async () => (await backlog.look(database.db))(ORG);
  expect(await isLong()).toBe(false);
  await receive(
    createBacklog(() => 0),
    [charge(OTHER)],
  );
  nowMs = 999;
  expect(await isLong()).toBe(false);
  nowMs = 1_000;
  expect(await isLong()).toBe(true);
  await database.db.run(sql`update operations set state = 'PASSED'`);
  nowMs = 4_999;
  expect(await isLong()).toBe(true);
  nowMs = 5_000;
  expect(await isLong()).toBe(false);
  await database.db.run(sql`update operations set state = 'WAITING'`);
  nowMs = 5_999;
  expect(await isLong()).toBe(false);
  nowMs = 6_000;
  expect(await isLong()).toBe(true);
});

function charge(orgId: string): ReceivedEvent {
  return entryEvent(orgId, newId("chg"), [newId("wal"), 5n, 1n]);
}

function receive(backlog: Backlog, events: ReceivedEvent[]): Promise<boolean> {
  return tx(database.db, (tx) => receiveEntries(tx, events.map(received), backlog));
}

async function counts(): Promise<{ operations: number; shelved: (string | number)[] }> {
  const { count } = await database.db.one<{ count: bigint }>(sql`select count(*) from operations`);
  const rows = await database.db.query<{ org_id: string; entries: number }>(
    sql`select org_id, entries from shelved_entries order by shelf_id`,
  );
  return { operations: Number(count), shelved: rows.flatMap(({ org_id, entries }) => [org_id, entries]) };
}
