import type { ListEventsRequest, ListEventsResponse } from "@wonrail/proto/common/v1/feed";
import { sql } from "../db";
import { eventually, openTestDatabase } from "../testing";
import { createFeed, partitionOf } from ".";
import { append, event, outboxBench, TOPIC } from "./testing/bench";
import { pruneOutbox } from "./upkeep";

const bench = outboxBench();
const { opened, startRelay } = bench;
const A = partitionOf("a", TOPIC.partitions);

function openFeed(db = bench.test.db) {
  const feed = createFeed({ db, topic: TOPIC });
  opened.push(feed);
  type ListEvents = (
    request: ListEventsRequest,
    call: { signal: AbortSignal },
  ) => Promise<ListEventsResponse>;
  const listEvents = feed.service.handlers.listEvents as unknown as ListEvents;
  return (after: bigint, more: Partial<ListEventsRequest> & { eventId?: string } = {}) => {
    const { eventId, ...rest } = more;
    const cursors = [{ partition: A, number: after, eventId }];
    const request = { topic: TOPIC.name, cursors, limit: 100, waitMs: 0, ...rest };
    return listEvents(request, { signal: new AbortController().signal });
  };
}

async function startWith(versions: number): Promise<void> {
  startRelay(bench.test.db);
  await append(bench.test.db, ...Array.from({ length: versions }, (_, index) => event("a", index + 1)));
  await eventually(async () => {
    const { count } = await bench.test.db.one<{ count: bigint }>(sql`select count(*) from outbox_pending`);
    expect(count).toBe(0n);
  });
}

const versionsOf = ({ events }: ListEventsResponse) => events.map(({ event }) => Number(event!.version));

it("lists the events after a cursor in order, with the heads of all partitions", async () => {
  await startWith(5);
  const list = openFeed();
  const answer = await list(2n, { limit: 2 });
  expect(versionsOf(answer)).toEqual([3, 4]);
  expect(answer.events.map(({ partition, number }) => [partition, number])).toEqual([
    [A, 3n],
    [A, 4n],
  ]);
  expect(answer.heads).toHaveLength(TOPIC.partitions);
  expect(answer.heads[A]).toEqual({ partition: A, number: 5n, oldest: 1n, restarted: false });
});

it("limits an answer by bytes, and returns at least one event", async () => {
  startRelay(bench.test.db);
  const large = (version: number) => ({ ...event("a", version), payload: Buffer.alloc(800_000) });
  await append(bench.test.db, large(1), large(2), large(3));
  const list = openFeed();
  await eventually(async () => expect(versionsOf(await list(0n))).toEqual([1, 2]));
  expect(versionsOf(await list(2n))).toEqual([3]);
});

it.each(["this replica", "another replica"])(
  "answers a waiting call when %s numbers an event",
  async (where) => {
    await startWith(1);
    const serving = where === "this replica" ? bench.test.db : openTestDatabase(bench.test.url, "sample");
    if (serving !== bench.test.db) opened.push(serving);
    const list = openFeed(serving);
    const answer = list(1n, { waitMs: 20_000 });
    await append(bench.test.db, event("a", 2));
    expect(versionsOf(await answer)).toEqual([2]);
  },
);

it("answers without events at the end of the wait", async () => {
  await startWith(1);
  expect(versionsOf(await openFeed()(1n, { waitMs: 50 }))).toEqual([]);
});

it("ends waiting calls when it closes", async () => {
  await startWith(1);
  const feed = createFeed({ db: bench.test.db, topic: TOPIC });
  const listEvents = feed.service.handlers.listEvents as unknown as (...args: unknown[]) => Promise<unknown>;
  const request = { topic: TOPIC.name, cursors: [], limit: 1, waitMs: 20_000 };
  const answer = listEvents(request, { signal: new AbortController().signal });
  await feed.close();
  await expect(answer).resolves.toMatchObject({ events: [] });
});

it("answers from the oldest event when the cursor is beyond the head", async () => {
  await startWith(3);
  const answer = await openFeed()(4n);
  expect(answer.heads[A]).toMatchObject({ restarted: true });
  expect(versionsOf(answer)).toEqual([1, 2, 3]);
});

it("answers from the oldest event when another event has the cursor's number", async () => {
  await startWith(3);
  const list = openFeed();
  const { events } = await list(0n);
  const [, second, third] = events;
  expect(versionsOf(await list(2n, { eventId: second!.event!.eventId }))).toEqual([3]);
  const replaced = await list(2n, { eventId: third!.event!.eventId });
  expect(replaced.heads[A]!.restarted).toBe(true);
  expect(versionsOf(replaced)).toEqual([1, 2, 3]);
  // The restored feed has exactly as many events as the caller handled.
  const atHead = await list(3n, { eventId: second!.event!.eventId });
  expect(atHead.heads[A]!.restarted).toBe(true);
  expect((await list(3n, { eventId: third!.event!.eventId })).heads[A]!.restarted).toBe(false);
});

it("names the oldest number behind pruned events", async () => {
  await startWith(4);
  const list = openFeed();
  const [first] = (await list(0n)).events;
  await bench.test.db.run(sql`update outbox set occurred_at = now() - interval '1 hour' where version <= 2`);
  await pruneOutbox(bench.test.db, TOPIC.partitions, 60_000);
  const answer = await list(1n, { eventId: first!.event!.eventId });
  expect(answer.heads[A]).toMatchObject({ oldest: 3n, restarted: false });
  expect(versionsOf(answer)).toEqual([3, 4]);
});

it.each([
  ["topic", { topic: "wonrail.other.v1" }],
  ["limit", { limit: 1_001 }],
  ["waitMs", { waitMs: 20_001 }],
  ["cursors[0].partition", { cursors: [{ partition: 3, number: 0n, eventId: undefined }] }],
  ["cursors[0].eventId", { cursors: [{ partition: 0, number: 0n, eventId: "1" }] }],
])("refuses an invalid %s", async (path, request) => {
  const refused = openFeed()(0n, request);
  await expect(refused).rejects.toMatchObject({ code: "REQ_001", details: { fields: [{ path }] } });
});
