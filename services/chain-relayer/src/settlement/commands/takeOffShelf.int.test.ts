import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { listDeadLetters, type ReceivedEvent, showDeadLetter } from "@wonrail/kit/inbox";
import { type Registry } from "@wonrail/kit/metrics";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { type App } from "../../app";
import { consumers } from "../../consumers";
import { seeded } from "../domain/testing/randomOperations";
import { saveDrifts } from "../../reconciliation/store/drifts";
import { setLanePause } from "../store/settlementQueues";
import { holdLease, type Lease } from "../../sender/store/transactions";
import { planOperations } from "./planOperations";
import { createBacklog, receiveEntries } from "./receiveEntries";
import { ingestEntries } from "./ingest";
import { clearShelf, SETTLEMENT, type ShelfDeps, takeOffShelf } from "./takeOffShelf";
import { freshDatabase } from "../../testing/database";
import { entryEvent, type LineOf, LONG_BACKLOG, received } from "../../testing/entryEvents";

const database = freshDatabase();
const [ORG, OTHER] = [newId("org"), newId("org")];
let lease: Lease;
let registry: Registry;

beforeEach(async () => {
  registry = testRegistry();
  lease = (await holdLease(database.db, `0x${"1".repeat(40)}`, "this process", 60_000))!;
});

test("a lane with nothing else to plan gets what is on its shelf", async () => {
  const [first, second] = [
    [charge(ORG), charge(ORG)],
    [charge(ORG), charge(ORG)],
  ];
  await shelve(first);
  await shelve(second);
  await takeAll();
  expect((await operationRefs()).sort()).toEqual([...first, ...second].map(refOf).sort());
  expect(await shelved()).toBe(0);
});

test("a lane that has enough to plan waits, and so does a paused one; the others do not", async () => {
  await takeInAtOnce(...Array.from({ length: 500 }, () => charge(ORG)));
  await shelve([charge(ORG), charge(ORG)]);
  await shelve([charge(OTHER), charge(OTHER)]);
  await setLanePause(database.db, OTHER, "asked to");
  await takeAll();
  expect(await shelved()).toBe(4);
  await setLanePause(database.db, OTHER, null);
  await takeAll();
  expect(await shelved()).toBe(2);
  await database.db.run(
    sql`delete from operations where ledger_ref = (select min(ledger_ref) from operations where org_id = ${ORG})`,
  );
  await takeAll();
  expect(await shelved()).toBe(0);
});

test("while enough is planned nobody needs more", async () => {
  await takeInAtOnce(...Array.from({ length: 3_100 }, () => charge(ORG)));
  await planOperations(database.db, lease);
  await shelve([charge(OTHER), charge(OTHER)]);
  await takeAll();
  expect(await shelved()).toBe(2);
  await database.db.run(sql`update operations set state = 'IN_FLIGHT'`);
  await takeAll();
  expect(await shelved()).toBe(0);
});

test("a lane of which all is behind something else does not keep the others from theirs", async () => {
  const walletId = newId("wal");
  const behind = () => Array.from({ length: 400 }, (_, n) => charge(ORG, [walletId, 5n, BigInt(2 + n)]));
  for (let row = 0; row < 4; row += 1) await shelve(behind());
  await shelve([charge(OTHER), charge(OTHER)]);
  await takeAll();
  const { count } = await database.db.one<{ count: bigint }>(
    sql`select count(*) from operations where org_id = ${OTHER}`,
  );
  expect(count).toBe(2n);
  expect(await shelved()).toBeGreaterThan(0);
});

test("what was on the shelf is as old as it is, and stands before what came since", async () => {
  await shelve([charge(ORG), charge(ORG)]);
  await database.db.run(sql`update shelved_entries set shelved_at = now() - interval '25 minutes'`);
  const later = charge(ORG);
  await takeInAtOnce(later);
  await takeAll();
  const rows = await database.db.query<{ ledger_ref: string; seconds: number }>(sql`
    select ledger_ref, extract(epoch from now() - created_at)::float8 as seconds from operations order by created_at`);
  expect(rows[0]!.seconds).toBeGreaterThanOrEqual(1_500);
  expect(rows[2]!.ledger_ref).toBe(refOf(later));
});

test("all of it is taken in when it has to be known, of paused lanes and of those with enough to plan, too", async () => {
  const all = Array.from({ length: 60 }, () => [charge(newId("org")), charge(ORG)]);
  for (const row of all) await shelve(row);
  await setLanePause(database.db, ORG, "asked to");
  await Promise.all([clearShelf(deps()), clearShelf(deps())]);
  expect(await shelved()).toBe(0);
  expect(new Set(await operationRefs())).toEqual(new Set(all.flat().map(refOf)));
});

test("no more is taken at once than a lane needs for a while, and what has come first", async () => {
  const some = () => Array.from({ length: 400 }, () => charge(ORG));
  const early = [some(), some(), some()];
  for (const row of [...early, some()]) await shelve(row);
  await takeAll();
  expect((await operationRefs()).sort()).toEqual(early.flat().map(refOf).sort());
  expect(await shelved()).toBe(400);
});

test("what is behind something on the shelf, or out of a wallet in doubt, does not keep a lane from its shelf", async () => {
  const [walletId, openDrifts] = [newId("wal"), newId("wal")];
  const [earlier, later] = [charge(ORG, [walletId, 5n, 1n]), charge(ORG, [walletId, 5n, 2n])];
  await takeInAtOnce(later);
  await takeInAtOnce(entryEvent(ORG, newId("pay"), [openDrifts, -5n, 1n]));
  await saveDrifts(database.db, [
    {
      orgId: ORG,
      walletId: openDrifts,
      kind: "CHAIN",
      subject: "",
      expected: 1n,
      actual: 0n,
      blockNumber: 1n,
    },
  ]);
  await shelve([earlier, charge(ORG)]);
  await planOperations(database.db, lease);
  await takeAll();
  await planOperations(database.db, lease);
  expect(await statesOf([earlier, later])).toEqual(["PLANNED", "PLANNED"]);
});

test("of what is no entry a dead letter becomes, with all that is needed to try it again, and the others are taken in", async () => {
  const [one, other, good] = [charge(ORG), charge(ORG), charge(ORG)];
  const empty = JournalPosted.encode({ entry: { ...received(good).entry, postings: [] } }).finish();
  const bad = { ...good, payload: Buffer.from(empty) };
  await shelve([one, bad, other]);
  await takeAll();
  expect((await operationRefs()).sort()).toEqual([refOf(one), refOf(other)].sort());
  const [letter] = await listDeadLetters(database.db, { group: SETTLEMENT.group });
  const { headers, payload, topic } = (await showDeadLetter(database.db, letter!.id))!;
  expect({ topic, payload }).toEqual({ topic: SETTLEMENT.topic, payload: bad.payload });
  expect(headers).toMatchObject({ event_id: bad.id, event_type: bad.type, org_id: ORG });
  expect(await shelved()).toBe(0);
  // Its alarm is about the counter.
  const { values } = await registry.getSingleMetric("dead_letters_total")!.get();
  expect(values).toMatchObject([{ labels: SETTLEMENT, value: 1 }]);
});

test("a dead letter is of the consumer that the entries came to", () => {
  const takers = consumers({} as App).filter(({ handlers }) => "journal_posted" in handlers);
  expect(takers).toMatchObject([{ group: SETTLEMENT.group, topics: [SETTLEMENT.topic] }]);
});

test("an entry whose name another has taken is put aside, not in everybody's way", async () => {
  const walletId = newId("wal");
  const [first, forgotten] = [5n, 7n].map((won) =>
    entryEvent(ORG, newId("chg"), [walletId, won, 1n], ["acc_issuance", -won, 9n]),
  ) as [ReceivedEvent, ReceivedEvent];
  await takeInAtOnce(first);
  await planOperations(database.db, lease);
  const other = charge(ORG);
  await shelve([forgotten, other]);
  await takeAll();
  expect(await operationRefs()).toEqual([refOf(first), refOf(other)]);
  expect(await listDeadLetters(database.db)).toHaveLength(1);
});

test("what is there already is there once; of two that take the same each entry is there once", async () => {
  const all = [charge(ORG), charge(ORG), charge(ORG)];
  await takeInAtOnce(all[0]!);
  await planOperations(database.db, lease);
  await shelve(all);
  await Promise.allSettled([takeAll(), takeAll(), takeAll()]);
  await takeAll();
  expect((await operationRefs()).sort()).toEqual(all.map(refOf).sort());
  expect(await shelved()).toBe(0);
});

test.each([1, 2, 3])(
  "however entries come, on the shelf or not, all are planned in the order of their wallets (%p)",
  async (seed) => {
    const random = seeded(seed);
    const upTo = (limit: number) => Math.floor(random() * limit);
    const wallets = Array.from({ length: 5 }, () => newId("wal"));
    const sequences = new Map<string, bigint>();
    const lineOf = (walletId: string, amountWon: bigint): LineOf => {
      const sequence = (sequences.get(walletId) ?? 0n) + 1n;
      sequences.set(walletId, sequence);
      return [walletId, amountWon, sequence];
    };
    const posted = Array.from({ length: 300 }, () => {
      const [from, by] = [upTo(5), 1 + upTo(4)];
      const lines = [lineOf(wallets[from]!, -1n), lineOf(wallets[(from + by) % 5]!, 1n)];
      return { lines, event: entryEvent(ORG, newId("pay"), ...lines) };
    });
    // The bus may bring them in any order.
    const coming = posted
      .map(({ event }, number) => ({ event, at: number + upTo(60) }))
      .sort((one, other) => one.at - other.at)
      .map(({ event }) => event);
    const backlog = createBacklog(() => Infinity, 1 + upTo(50));
    while (coming.length > 0) {
      const batch = coming.splice(0, 1 + upTo(30));
      await tx(database.db, (tx) => receiveEntries(tx, batch.map(received), backlog));
      if (upTo(2) === 0) await takeAll();
      if (upTo(2) === 0) await planOperations(database.db, lease);
    }
    for (let looks = 0; looks < 20; looks += 1) {
      await takeAll();
      await planOperations(database.db, lease);
    }
    const rows = await database.db.query<{ ledger_ref: string }>(
      sql`select ledger_ref from operations where state = 'PLANNED' order by turn`,
    );
    const linesOf = new Map(posted.map(({ lines, event }) => [event.aggregateId, lines]));
    expect(rows).toHaveLength(posted.length);
    const heads = new Map<string, bigint>();
    for (const { ledger_ref: ref } of rows)
      for (const [walletId, , sequence] of linesOf.get(ref)!) {
        expect(sequence).toBe((heads.get(walletId) ?? 0n) + 1n);
        heads.set(walletId, sequence);
      }
  },
);

function charge(orgId: string, line: LineOf = [newId("wal"), 5n, 1n]): ReceivedEvent {
  return entryEvent(orgId, newId("chg"), line);
}

function refOf({ aggregateId }: ReceivedEvent): string {
  return aggregateId;
}

/** As behind a long backlog. */
function shelve(events: ReceivedEvent[]): Promise<boolean> {
  return tx(database.db, (tx) => receiveEntries(tx, events.map(received), LONG_BACKLOG));
}

async function takeInAtOnce(...events: ReceivedEvent[]): Promise<void> {
  await tx(database.db, (tx) => ingestEntries(tx, events.map(received)));
}

function deps(): ShelfDeps {
  return { db: database.db, log: testLog(), registry };
}

function takeAll(): Promise<boolean> {
  return takeOffShelf(deps(), new AbortController().signal);
}

async function operationRefs(): Promise<string[]> {
  const rows = await database.db.query<{ ledger_ref: string }>(
    sql`select ledger_ref from operations order by created_at, ledger_ref`,
  );
  return rows.map((row) => row.ledger_ref);
}

async function statesOf(events: ReceivedEvent[]): Promise<string[]> {
  const rows = await database.db.query<{ ledger_ref: string; state: string }>(
    sql`select ledger_ref, state from operations`,
  );
  const states = new Map(rows.map((row) => [row.ledger_ref, row.state]));
  return events.map((event) => states.get(refOf(event))!);
}

async function shelved(): Promise<number> {
  const { count } = await database.db.one<{ count: number }>(
    sql`select coalesce(sum(entries), 0)::float8 as count from shelved_entries`,
  );
  return count;
}
