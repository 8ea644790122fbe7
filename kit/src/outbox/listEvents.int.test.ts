import { sql, tx, type Tx } from "../db";
import { createTestDatabase, type TestDatabase } from "../testing";
import { appendEvents, listEvents } from ".";

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase({ schema: "sample" });
});
afterEach(() => test.drop());

const append = (tx: Tx, ...aggregateIds: string[]) =>
  appendEvents(
    tx,
    aggregateIds.map((aggregateId) => ({
      ...{ topic: "wonrail.sample.v1", type: "thing_changed", aggregateId, version: 1, orgId: "org_1" },
      payload: Buffer.from(aggregateId),
    })),
  );
const publish = () => test.db.run(sql`delete from outbox_pending`);
const age = () => test.db.run(sql`update outbox set occurred_at = now() - interval '6 minutes'`);

async function listed(after: bigint): Promise<string[]> {
  const { events } = await listEvents(test.db, after);
  return events.map(({ aggregateId }) => aggregateId);
}

it("gives what has been on the bus for five minutes, whole, and goes on behind it", async () => {
  await tx(test.db, (tx) => append(tx, "a", "b"));
  await publish();
  expect(await listed(0n)).toEqual([]);
  await age();
  const first = await listEvents(test.db, 0n);
  const { eventId } = first.events[0]!;
  expect(eventId).toMatch(/^evt_/);
  expect(first.events).toMatchObject([
    { eventType: "thing_changed", aggregateId: "a", version: 1n, orgId: "org_1", payload: Buffer.from("a") },
    { aggregateId: "b" },
  ]);
  expect(await listEvents(test.db, first.position)).toEqual({ events: [], position: first.position });

  await tx(test.db, (tx) => append(tx, ...Array.from({ length: 250 }, (_, index) => `c${index}`)));
  await publish();
  await age();
  const second = await listEvents(test.db, first.position);
  expect(second.events).toHaveLength(200);
  expect(await listed(second.position)).toHaveLength(50);
});

it("goes past nothing that is not on the bus, or is young, though what is behind it is old", async () => {
  await tx(test.db, (tx) => append(tx, "a", "b", "c", "d"));
  await test.db.run(
    sql`delete from outbox_pending where id in (select id from outbox where aggregate_id <> 'b')`,
  );
  await age();
  expect(await listed(0n)).toEqual(["a"]);
  await publish();
  await test.db.run(sql`update outbox set occurred_at = now() where aggregate_id = 'c'`);
  expect(await listed(0n)).toEqual(["a", "b"]);
});

it("begins anew with a database that is older than what was read, and stays where it is when nothing is kept", async () => {
  await tx(test.db, (tx) => append(tx, "a"));
  await publish();
  await age();
  expect(await listEvents(test.db, 1_000n)).toMatchObject({ events: [{ aggregateId: "a" }], position: 1n });
  await test.db.run(sql`delete from outbox`);
  expect(await listEvents(test.db, 1_000n)).toEqual({ events: [], position: 1_000n });
});
