import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { listDeadLetters, type ReceivedEvent, showDeadLetter } from "@wonrail/kit/inbox";
import { testLog } from "@wonrail/kit/testing";
import { type App } from "../app";
import { consumers } from "../consumers";
import { seeded } from "../domain/testing/randomOperations";
import { saveDrifts } from "../store/drifts";
import { setLanePause } from "../store/lanes";
import { holdLease, type Lease } from "../store/transactions";
import { planOperations } from "./planOperations";
import { createBacklog, receiveEntries } from "./receiveEntries";
import { SETTLEMENT, takeOffShelf } from "./takeOffShelf";
import { freshDatabase } from "./testing/database";
import { entryEvent, type LineOf } from "./testing/entryEvents";

const database = freshDatabase();
const [ORG, OTHER] = [newId("org"), newId("org")];
let lease: Lease;

beforeEach(async () => {
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

test("a lane that has something to plan waits, and so does a paused one; the others do not", async () => {
  await takeInAtOnce(charge(ORG));
  await shelve([charge(ORG), charge(ORG)]);
  const others = [charge(OTHER), charge(OTHER)];
  await shelve(others);
  await setLanePause(database.db, OTHER, "asked to");
  await takeAll();
  expect(await shelved()).toBe(4);
  await setLanePause(database.db, OTHER, null);
  await takeAll();
  expect(await shelved()).toBe(2);
  await planOperations(database.db, lease);
  await takeAll();
  expect(await shelved()).toBe(0);
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
  const [walletId, doubted] = [newId("wal"), newId("wal")];
  const [earlier, later] = [charge(ORG, [walletId, 5n, 1n]), charge(ORG, [walletId, 5n, 2n])];
  await takeInAtOnce(later);
  await takeInAtOnce(entryEvent(ORG, newId("pay"), [doubted, -5n, 1n]));
  await saveDrifts(database.db, [
    { orgId: ORG, walletId: doubted, kind: "CHAIN", subject: "", expected: 1n, actual: 0n, blockNumber: 1n },
  ]);
  await shelve([earlier, charge(ORG)]);
  await planOperations(database.db, lease);
  await takeAll();
  await planOperations(database.db, lease);
  expect(await statesOf([earlier, later])).toEqual(["PLANNED", "PLANNED"]);
});

test("of what is no entry a dead letter becomes, with all that is needed to try it again, and the others are taken in", async () => {
  const bad = { ...charge(ORG), payload: Buffer.from("no entry") };
  const [one, other] = [charge(ORG), charge(ORG)];
  await shelve([one, bad, other]);
  await takeAll();
  expect((await operationRefs()).sort()).toEqual([refOf(one), refOf(other)].sort());
  const [letter] = await listDeadLetters(database.db, { group: SETTLEMENT.group });
  const { headers, payload, topic } = (await showDeadLetter(database.db, letter!.id))!;
  expect({ topic, payload }).toEqual({ topic: SETTLEMENT.topic, payload: bad.payload });
  expect(headers).toMatchObject({ event_id: bad.id, event_type: bad.type, org_id: ORG });
  expect(await shelved()).toBe(0);
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
      await tx(database.db, (tx) => receiveEntries(tx, batch, backlog));
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
function shelve(events: ReceivedEvent[]): Promise<void> {
  return tx(database.db, (tx) => receiveEntries(tx, events, { isLong: () => Promise.resolve(true) }));
}

async function takeInAtOnce(event: ReceivedEvent): Promise<void> {
  await tx(database.db, (tx) =>
    receiveEntries(
      tx,
      [event],
      createBacklog(() => 0),
    ),
  );
}

function takeAll(): Promise<void> {
  return takeOffShelf({ db: database.db, log: testLog() }, new AbortController().signal);
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
