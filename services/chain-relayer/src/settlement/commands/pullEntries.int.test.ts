import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { testLog } from "@wonrail/kit/testing";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry, HoldStatus } from "@wonrail/proto/ledger/v1/ledger";
import { freshDatabase } from "../../testing/database";
import { entryOf, journalsOf } from "../../testing/journal";
import { setQueuePause } from "../store/settlementQueues";
import { correctHeads, recordHeads } from "./correctHeads";
import { pullAll, type PullDeps, pullEntries } from "./pullEntries";

const database = freshDatabase();
const { signal } = new AbortController();
const ORG = newId("org");

test("a queue is pulled in the order of its journal until it has enough to plan", async () => {
  const deps = depsOf({ [ORG]: charges(20_000) });
  await correctHeads(deps, signal);
  for (let round = 0; round < 10; round += 1) await pullEntries(deps, signal);
  const sequences = await pulledSequences();
  expect(sequences).toEqual(sequences.map((_, index) => BigInt(index + 1)));
  // A page more than enough at most, of 20,000 entries.
  expect(sequences.length).toBeGreaterThanOrEqual(500);
  expect(sequences.length).toBeLessThanOrEqual(1_000);
  await database.db.run(sql`update operations set state = 'PLANNED'`);
  await pullEntries(deps, signal);
  expect((await pulledSequences()).length).toBeGreaterThan(sequences.length);
});

test("two replicas that pull at once insert every entry once", async () => {
  const deps = depsOf({ [ORG]: charges(1_200) });
  await correctHeads(deps, signal);
  await Promise.all([pullAll(deps), pullAll(deps), pullAll(deps)]);
  expect(await pulledSequences()).toHaveLength(1_200);
  expect(await queueOf(ORG)).toMatchObject({ cursor_sequence: 1_200n, behind_since: null });
});

test("a paused queue is not pulled, and delays no other", async () => {
  const other = newId("org");
  const deps = depsOf({ [ORG]: charges(3), [other]: charges(2) });
  await correctHeads(deps, signal);
  await setQueuePause(database.db, ORG, "asked to");
  await pullEntries(deps, signal);
  expect(await queueOf(ORG)).toMatchObject({ cursor_sequence: 0n });
  expect(await queueOf(other)).toMatchObject({ cursor_sequence: 2n });
});

test("an event moves the head forward only, and one without organisation is refused", async () => {
  await tx(database.db, (tx) =>
    recordHeads(tx, [
      { orgId: ORG, sequence: 7n },
      { orgId: ORG, sequence: 5n },
    ]),
  );
  await tx(database.db, (tx) => recordHeads(tx, [{ orgId: ORG, sequence: 6n }]));
  expect(await queueOf(ORG)).toMatchObject({ head_sequence: 7n });
  const strange = tx(database.db, (tx) => recordHeads(tx, [{ orgId: "", sequence: 1n }]));
  await expect(strange).rejects.toThrow("is not an organisation's id");
});

test("entries without movement create no operation, and entries of the chain are PASSED", async () => {
  const walletId = newId("wal");
  const opened = { ...entryOf(1n, newId("opn")), kind: IntentKind.OPEN_ACCOUNT, postings: [] };
  const credited = { ...entryOf(2n, newId("opn"), [walletId, 5n, 1n]), kind: IntentKind.CREDIT_EXTERNAL };
  await pull([opened, credited]);
  expect(await statesBySequence()).toEqual([[2n, "PASSED", null]]);
  const lines = await database.db.query(sql`select wallet_id, last_sequence from wallet_sequences`);
  expect(lines).toEqual([{ wallet_id: walletId, last_sequence: 1n }]);
});

test.each<[string, Partial<{ walletId: string; toAddress: string; amountWon: string }>]>([
  ["out of no wallet", { walletId: "wal_1" }],
  ["to no address", { toAddress: "nowhere" }],
  ["to a mistyped address", { toAddress: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD" }],
  ["of nothing", { amountWon: "0" }],
  ["of a negative amount", { amountWon: "-5" }],
  ["of no number", { amountWon: "0x5" }],
])("a hold %s is BLOCKED, and the entries behind it are pulled", async (_what, of) => {
  await pull([holdEntry(1n, of), entryOf(2n, newId("chg"), [newId("wal"), 5n, 1n])]);
  expect(await statesBySequence()).toEqual([
    [1n, "BLOCKED", "unreadable"],
    [2n, "WAITING", null],
  ]);
});

test("a hold becomes one step out of its wallet", async () => {
  await pull([holdEntry(1n)]);
  const row = await database.db.one(sql`
    select state, from_wallets = wallets as its_wallet, steps -> 0 ->> 'toAddress' as "toAddress" from operations`);
  expect(row).toEqual({ state: "WAITING", its_wallet: true, toAddress: HOLD.toAddress });
});

test.each([
  [true, [1n, 2n, 3n], ["FAIL", "HOLD", null]],
  [false, [1n, 2n, 3n], [null, null, null]],
])(
  "memos order outcomes of settlements when there is a sandbox: %s",
  async (hasSandbox, sequences, orders) => {
    const memos = ["sandbox:settlement_failed", "sandbox:settlement_failed", "sandbox:PAY_001"];
    const entries = [
      holdEntry(1n),
      entryOf(2n, newId("chg"), [newId("wal"), 5n, 1n]),
      entryOf(3n, newId("chg"), [newId("wal"), 5n, 1n]),
    ].map((entry, index) => ({ ...entry, memo: memos[index] }));
    const deps = depsOf({ [ORG]: entries }, hasSandbox);
    await correctHeads(deps, signal);
    await pullAll(deps);
    const rows = await database.db.query<{ org_sequence: bigint; sandbox_order: string | null }>(
      sql`select org_sequence, sandbox_order from operations order by org_sequence`,
    );
    expect(rows.map((row) => row.org_sequence)).toEqual(sequences);
    expect(rows.map((row) => row.sandbox_order)).toEqual(orders);
  },
);

test("a blocked entry that an update can read replaces its row", async () => {
  const walletId = newId("wal");
  const entry = entryOf(1n, newId("chg"), [walletId, 5n, 1n]);
  const broken = { ...entry, postings: entry.postings.map((line) => ({ ...line, amountWon: "?" })) };
  await pull([broken]);
  expect(await statesBySequence()).toEqual([[1n, "BLOCKED", "unreadable"]]);
  await database.db.run(sql`update settlement_queues set cursor_sequence = 0, cursor_ref = ''`);
  await pull([entry]);
  expect(await statesBySequence()).toEqual([[1n, "WAITING", null]]);
});

test("the entries behind the last common one are pulled after a restore of the ledger", async () => {
  const before = charges(700);
  await pull(before);
  const wallet = newId("wal");
  const kept = before.slice(0, 600);
  const anew = Array.from({ length: 150 }, (_, index) =>
    entryOf(BigInt(601 + index), newId("chg"), [wallet, 5n, BigInt(index + 1)]),
  );
  const deps = depsOf({ [ORG]: [...kept, ...anew] });
  await correctHeads(deps, signal);
  await pullAll(deps);
  const refs = await database.db.query<{ ledger_ref: string }>(sql`select ledger_ref from operations`);
  const known = new Set(refs.map((row) => row.ledger_ref));
  expect(anew.filter(({ requestId }) => !known.has(requestId))).toEqual([]);
  expect(await queueOf(ORG)).toMatchObject({ cursor_sequence: 750n, cursor_ref: anew.at(-1)!.requestId });
});

test("the queue returns to the ledger's entries after a restore to fewer", async () => {
  const before = charges(30);
  await pull(before);
  const deps = depsOf({ [ORG]: before.slice(0, 20) });
  await correctHeads(deps, signal);
  expect(await queueOf(ORG)).toMatchObject({ cursor_sequence: 20n, head_sequence: 20n });
});

test("a ledger that was restored and has as many entries as before is noticed without a new entry", async () => {
  const before = charges(30);
  await pull(before);
  const posted = charges(30).slice(20);
  const deps = depsOf({ [ORG]: [...before.slice(0, 20), ...posted] });
  await correctHeads(deps, signal);
  await pullAll(deps);
  expect(await queueOf(ORG)).toMatchObject({ cursor_sequence: 30n, cursor_ref: posted.at(-1)!.requestId });
  const refs = await database.db.query<{ ledger_ref: string }>(sql`select ledger_ref from operations`);
  expect(refs.map((row) => row.ledger_ref)).toEqual(
    expect.arrayContaining(posted.map(({ requestId }) => requestId)),
  );
});

test("an unchanged journal is not read again", async () => {
  const journal = charges(30);
  await pull(journal);
  const ledger = journalsOf(new Map([[ORG, journal]]));
  await correctHeads({ ...depsOf({}), ledger }, signal);
  expect(ledger.calls).toBe(0);
});

test("an entry with the name of a forgotten one is BLOCKED, and the others are pulled", async () => {
  const [payer, other] = [newId("wal"), newId("org")];
  const paid = (amountWon: bigint) =>
    entryOf(1n, newId("pay"), [payer, -amountWon, 3n], [newId("wal"), amountWon, 1n]);
  await pull([paid(5n)]);
  const deps = depsOf({ [other]: [paid(7n), entryOf(2n, newId("chg"), [newId("wal"), 5n, 1n])] });
  await correctHeads(deps, signal);
  await pullAll(deps);
  const rows = await database.db.query(
    sql`select state, wait_reason from operations where org_id = ${other} order by org_sequence`,
  );
  expect(rows).toEqual([
    { state: "BLOCKED", wait_reason: "name_in_use" },
    { state: "WAITING", wait_reason: null },
  ]);
});

test("a head beyond the journal's end is lowered", async () => {
  const deps = depsOf({ [ORG]: charges(2) });
  await tx(database.db, (tx) => recordHeads(tx, [{ orgId: ORG, sequence: 9n }]));
  await pullAll(deps);
  expect(await queueOf(ORG)).toMatchObject({ head_sequence: 2n, cursor_sequence: 2n, behind_since: null });
});

const HOLD = { walletId: newId("wal") as string, toAddress: `0x${"a".repeat(40)}`, amountWon: "5" };

function holdEntry(orgSequence: bigint, of: Partial<typeof HOLD> = {}): Entry {
  const entry = { ...entryOf(orgSequence, newId("hld")), kind: IntentKind.PLACE_HOLD, postings: [] };
  const rest = { status: HoldStatus.OPEN, holdRequestId: entry.requestId, sequence: 7n };
  return { ...entry, result: { $case: "hold", value: { ...HOLD, ...rest, ...of } } };
}

/** Charges of one KRW, each of another wallet. */
function charges(count: number): Entry[] {
  return Array.from({ length: count }, (_, index) =>
    entryOf(BigInt(index + 1), newId("chg"), [newId("wal"), 1n, 1n]),
  );
}

function depsOf(journals: Record<string, Entry[]>, hasSandbox = true): PullDeps {
  const ledger = journalsOf(new Map(Object.entries(journals)));
  return { db: database.db, log: testLog(), ledger, hasSandbox };
}

async function pull(entries: Entry[]): Promise<void> {
  const deps = depsOf({ [ORG]: entries });
  await correctHeads(deps, signal);
  await pullAll(deps);
}

function queueOf(orgId: string) {
  return database.db.one(sql`
    select head_sequence, cursor_sequence, cursor_ref, behind_since from settlement_queues where org_id = ${orgId}`);
}

async function pulledSequences(): Promise<bigint[]> {
  const rows = await database.db.query<{ org_sequence: bigint }>(
    sql`select org_sequence from operations order by org_sequence`,
  );
  return rows.map((row) => row.org_sequence);
}

async function statesBySequence(): Promise<[bigint, string, string | null][]> {
  const rows = await database.db.query<{ org_sequence: bigint; state: string; wait_reason: string | null }>(
    sql`select org_sequence, state, wait_reason from operations order by org_sequence`,
  );
  return rows.map((row) => [row.org_sequence, row.state, row.wait_reason]);
}
