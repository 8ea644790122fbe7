import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { chargeEntry, refundEntry } from "@wonrail/kit/records/testing/entries";
import { openWorld, type World } from "../testing/world";

let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

const charge = () => chargeEntry(newId("wal"), 1_000n, 1_000n);
const sequences = (events: { sequence: bigint }[]) => events.map(({ sequence }) => Number(sequence));

test("pages follow each other in both directions", async () => {
  const orgId = newId("org");
  await world.post(orgId, ...Array.from({ length: 7 }, charge));
  const first = await world.list(orgId, { limit: 3 });
  expect([sequences(first.events), first.hasMore, first.nextAfter]).toEqual([[1, 2, 3], true, 3n]);
  const last = await world.list(orgId, { after: 6n, limit: 3 });
  expect([sequences(last.events), last.hasMore, last.nextAfter]).toEqual([[7], false, 7n]);
  const newest = await world.list(orgId, { isDescending: true, limit: 3 });
  expect([sequences(newest.events), newest.hasMore, newest.nextAfter]).toEqual([[7, 6, 5], true, 5n]);
  const oldest = await world.list(orgId, { isDescending: true, after: 3n, limit: 3 });
  expect([sequences(oldest.events), oldest.hasMore]).toEqual([[2, 1], false]);
});

test("filters leave out events, and the cursor passes those that are left out", async () => {
  const orgId = newId("org");
  const [one, refund] = [charge(), refundEntry(newId("wal"), 5n)];
  await world.post(orgId, one, refund, charge(), charge());
  const refunds = await world.list(orgId, { types: ["refund.created", "wallet.created"] });
  expect([sequences(refunds.events), refunds.nextAfter]).toEqual([[2], 4n]);
  const both = await world.list(orgId, { types: ["refund.created", "charge.created"], limit: 2 });
  expect([sequences(both.events), both.hasMore, both.nextAfter]).toEqual([[1, 2], true, 2n]);
  const ofObject = await world.list(orgId, { objectId: one.requestId });
  expect([sequences(ofObject.events), ofObject.nextAfter]).toEqual([[1], 4n]);
  const neither = await world.list(orgId, { objectId: one.requestId, types: ["refund.created"] });
  expect([neither.events, neither.nextAfter]).toEqual([[], 4n]);
});

test("an organisation sees its own events only", async () => {
  const [ours, theirs] = [newId("org"), newId("org")];
  await world.post(ours, charge());
  await world.post(theirs, charge());
  const [event] = (await world.list(theirs)).events;
  expect((await world.list(ours)).events).toHaveLength(1);
  const absent = { code: "EVT_001" };
  await expect(world.app.getEvent({ orgId: ours, eventId: event!.eventId })).rejects.toMatchObject(absent);
  await expect(world.app.getEvent({ orgId: ours, eventId: newId("evt") })).rejects.toMatchObject(absent);
});

test("a waiting list answers with the event that comes meanwhile, of its own organisation", async () => {
  const [orgId, other] = [newId("org"), newId("org")];
  await world.post(orgId, charge());
  let isAnswered = false;
  const waiting = world.list(orgId, { after: 1n, waitMs: 20_000 }).finally(() => (isAnswered = true));
  await world.post(other, charge());
  await sleep(200);
  expect(isAnswered).toBe(false);
  await world.post(orgId, charge());
  expect(sequences((await waiting).events)).toEqual([2]);
});

test("a waiting list answers with nothing when the time is over", async () => {
  const orgId = newId("org");
  expect(await world.list(orgId, { waitMs: 50 })).toEqual({ events: [], hasMore: false, nextAfter: 0n });
});

test("a cursor before the oldest kept event is refused with the place to go on", async () => {
  const orgId = newId("org");
  await world.post(orgId, charge(), charge(), charge());
  await world.db.run(sql`
    update events set stored_at = now() - interval '31 days' where org_id = ${orgId} and sequence <= 2`);
  await world.app.deleteOldEvents(new AbortController().signal);
  await expect(world.list(orgId, { after: 1n })).rejects.toMatchObject({
    code: "EVT_002",
    details: { oldestAfter: "2" },
  });
  expect(sequences((await world.list(orgId, { after: 2n })).events)).toEqual([3]);
  expect(sequences((await world.list(orgId)).events)).toEqual([3]);
});

test("a reader gets each event once and in order while four writers commit at the same time", async () => {
  const orgIds = [newId("org"), newId("org")];
  const total = 200;
  const write = async (): Promise<void> => {
    for (let round = 0; round < total / 8; round += 1)
      for (const orgId of orgIds) await world.post(orgId, charge(), charge());
  };
  const read = async (orgId: string): Promise<number[]> => {
    const seen: number[] = [];
    for (let after = 0n; seen.length < total;) {
      const page = await world.list(orgId, { after, limit: 7, waitMs: 5_000 });
      seen.push(...sequences(page.events));
      after = page.nextAfter;
    }
    return seen;
  };
  const [first, second] = await Promise.all([...orgIds.map(read), ...[1, 2, 3, 4].map(write)]);
  const expected = Array.from({ length: total }, (_, index) => index + 1);
  expect([first, second]).toEqual([expected, expected]);
});
