import { AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { sql } from "../db";
import { viewer, wholeScans } from "../testing";
import { buildWorld } from "../testing/buildWorld";
import { createAdminService } from ".";
import { getSystem } from "./getSystem";

const topic = { name: "wonrail.sample.v1", partitions: 2 };
const server = { service: "sample", commit: "c0ffee", topic };

const world = buildWorld(async (open) => {
  const { db } = await open.database({ schema: "sample" });
  const { address } = await open.server([createAdminService({ db, ...server })]);
  return { db, admin: open.client(AdminServiceService, address) };
});
afterAll(async () => (await world).close());

test("a service tells its release, its schema, its feed, and how far it has read other feeds", async () => {
  const { db, admin } = await world;
  await db.run(sql`insert into feed_heads (partition, number, published) values (0, 7, 5), (1, 3, 3)`);
  await db.run(sql`insert into outbox_pending (id) values (1), (2)`);
  await db.run(sql`
    insert into feed_cursors (consumer_group, topic, partition, number, moved_at) values
      ('sample.journal', 'wonrail.ledger.v1', 0, 4, '2026-11-01Z'),
      ('sample.journal', 'wonrail.ledger.v1', 1, 5, '-infinity'),
      ('sample.keys', 'wonrail.auth.v1', 0, 0, '-infinity')`);
  await db.run(sql`
    insert into dead_letters (consumer_group, topic, partition, message_key, event_type, headers, payload, digest, error)
    values ('sample.journal', 'wonrail.ledger.v1', 0, 'wal_1', 'noted', '{}', '', '', 'unreadable')`);
  const system = await admin.getSystem({ operator: viewer });
  expect(system).toMatchObject({
    ...{ service: "sample", commit: "c0ffee", version: "0.1.0", nodeVersion: process.version },
    feed: { topic: topic.name, events: 10n, published: 8n, unnumbered: 2 },
    reading: [
      {
        ...{ consumerGroup: "sample.journal", topic: "wonrail.ledger.v1", partitions: 2, events: 9n },
        ...{ movedAt: new Date("2026-11-01Z"), deadLetters: 1 },
      },
      { consumerGroup: "sample.keys", events: 0n, movedAt: undefined, deadLetters: 0 },
    ],
  });
  expect(system.startedAt!.getTime()).toBeLessThan(system.now!.getTime() + 1_000);
  const { last } = await db.one<{ last: number }>(sql`select max(number) as last from schema_migrations`);
  expect(system.schema).toMatchObject([{ set: "kit", number: last, appliedAt: expect.any(Date) }]);
});

test("a service without events has no feed", async () => {
  const { db } = await world;
  expect((await getSystem(db, { ...server, topic: undefined })).feed).toBeUndefined();
});

test("only tables with a row per partition or migration are read whole", async () => {
  const { db } = await world;
  expect(await wholeScans(db, (db) => getSystem(db, server))).toEqual([
    "feed_cursors",
    "feed_heads",
    "schema_migrations",
  ]);
});
