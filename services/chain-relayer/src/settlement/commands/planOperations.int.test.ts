import { sql, tx, type Tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { type Place } from "../domain/planning";
import { randomOperations, seeded } from "../domain/testing/randomOperations";
import { acknowledgeDrifts, type NewDrift, saveDrifts } from "../../reconciliation/store/drifts";
import { setLanePause } from "../store/settlementQueues";
import { insertOperations, type NewOperation } from "../store/operations";
import { countPlannedOperations, listPlannedOperations } from "../store/plannedOperations";
import { holdHeads, moveHeads } from "../store/places";
import { fence, holdLease, type Lease, LeaseLostError } from "../../sender/store/transactions";
import { planOperations } from "./planOperations";
import { freshDatabase, untilSomebodyWaits } from "../../testing/database";

const database = freshDatabase();

test("what comes in is sorted in at once, and goes in the order of its accounts", async () => {
  const lease = await becomeWriter();
  const [payer, payee] = [newId("wal"), newId("wal")];
  const charge = operation(place(payer, 1n));
  const pays = operation(place(payer, 2n), place(payee, 1n));
  const paysBack = operation(place(payee, 2n), place(payer, 3n));
  await takeIn([paysBack, pays, charge]);
  expect(await blockedOf([charge, pays, paysBack])).toEqual([0, 1, 2]);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([charge, pays, paysBack]));
});

test("what came in out of its order waits for what is missing", async () => {
  const lease = await becomeWriter();
  const walletId = newId("wal");
  const [first, second] = [operation(place(walletId, 1n)), operation(place(walletId, 2n))];
  await takeIn([second]);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual([]);
  await takeIn([first]);
  expect(await blockedOf([first, second])).toEqual([0, 1]);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([first, second]));
});

test("an operation that comes again changes nothing", async () => {
  const lease = await becomeWriter();
  const [first, second] = [operation(place(newId("wal"), 1n)), operation(place(newId("wal"), 1n))];
  await takeIn([first]);
  await planOperations(database.db, lease);
  await takeIn([first, second]);
  expect(await blockedOf([first, second])).toEqual([0, 0]);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([first, second]));
});

test("before there has ever been a planner, the first one sorts in", async () => {
  const walletId = newId("wal");
  const all = [operation(place(walletId, 1n)), operation(place(walletId, 2n))];
  await takeIn(all);
  expect(await blockedOf(all)).toEqual([null, null]);
  await planOperations(database.db, await becomeWriter());
  expect(await plannedRefs()).toEqual(refsOf(all));
});

test("while the planner is at work nobody waits for it: it sorts in the next time", async () => {
  const lease = await becomeWriter();
  const one = operation(place(newId("wal"), 1n));
  await tx(database.db, async (planning) => {
    await fence(planning, lease);
    await takeIn([one]);
  });
  expect(await blockedOf([one])).toEqual([null]);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([one]));
});

test("the heads do not move while an operation is being sorted in", async () => {
  const lease = await becomeWriter();
  const walletId = newId("wal");
  const [first, second] = [operation(place(walletId, 1n)), operation(place(walletId, 2n))];
  await takeIn([first]);
  let done = false;
  const planning = tx(database.db, async (tx) => {
    await insert(tx, [second]);
    const planning = planOperations(database.db, lease).then(() => (done = true));
    await untilSomebodyWaits(database.db);
    expect(done).toBe(false);
    return { planning };
  });
  await (
    await planning
  ).planning;
  // In the same look or in the next one, as it was there before the head moved.
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([first, second]));
});

test("of two signers' planners one plans at a time, as while the operator's key is changed", async () => {
  const lease = await becomeWriter();
  const other = (await holdLease(database.db, `0x${"2".repeat(40)}`, "another process", 60_000))!;
  const one = operation(place(newId("wal"), 1n));
  await takeIn([one]);
  let done = false;
  const begun = await tx(database.db, async (tx) => {
    await fence(tx, other);
    const planning = planOperations(database.db, lease).then(() => (done = true));
    await untilSomebodyWaits(database.db);
    expect(done).toBe(false);
    return { planning };
  });
  await begun.planning;
  expect(await plannedRefs()).toEqual(refsOf([one]));
});

test("a planner whose lease is gone does not plan", async () => {
  const lease = await becomeWriter();
  const stale = { ...lease, epoch: lease.epoch - 1n };
  await expect(planOperations(database.db, stale)).rejects.toThrow(LeaseLostError);
});

test("a head never goes back", async () => {
  const accountId = newId("wal");
  await takeIn([operation(place(accountId, 1n))]);
  await planOperations(database.db, await becomeWriter());
  const moveTo = (nextSequence: bigint) =>
    tx(database.db, (tx) => moveHeads(tx, [{ orgId: ORG, accountId, nextSequence }]));
  await moveTo(5n);
  await moveTo(2n);
  expect(await database.db.one(sql`select next_sequence from account_heads`)).toEqual({ next_sequence: 5n });
});

test("a difference that is found after planning stops what is planned, until somebody has acknowledged it", async () => {
  const lease = await becomeWriter();
  const [doubtful, other] = [paymentOf(newId("wal")), paymentOf(newId("wal"))];
  await takeIn([doubtful]);
  await takeIn([other]);
  await planOperations(database.db, lease);
  const [walletId] = walletsOf(doubtful);
  await saveDrifts(database.db, [driftOf(ORG, walletId!)]);
  expect(refsOf(await listPlannedOperations(database.db, 10))).toEqual(refsOf([other]));
  // Otherwise thousands of them would leave no room for what may go.
  expect(await countPlannedOperations(database.db)).toBe(1);

  await acknowledgeDrifts(database.db, { walletId: walletId! }, "somebody");
  expect(refsOf(await listPlannedOperations(database.db, 10))).toEqual(refsOf([doubtful, other]));
});

test("nothing of a lane that is paused gets its turn until it is resumed, and others go on", async () => {
  const lease = await becomeWriter();
  const paused = operation(place(newId("wal"), 1n));
  const other = { ...operation(place(newId("wal"), 1n)), orgId: newId("org") };
  await takeIn([paused, other]);
  await setLanePause(database.db, ORG, "asked to");
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([other]));
  await setLanePause(database.db, ORG, null);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([other, paused]));
});

test("a pause stops what is planned as well, and takes no room for it; resumed, it goes in its turn", async () => {
  const lease = await becomeWriter();
  const paused = operation(place(newId("wal"), 1n));
  const other = { ...operation(place(newId("wal"), 1n)), orgId: newId("org") };
  await takeIn([paused]);
  await planOperations(database.db, lease);
  await takeIn([other]);
  await planOperations(database.db, lease);
  await setLanePause(database.db, ORG, "asked to");
  expect(refsOf(await listPlannedOperations(database.db, 10))).toEqual(refsOf([other]));
  expect(await countPlannedOperations(database.db)).toBe(1);
  await setLanePause(database.db, ORG, null);
  expect(refsOf(await listPlannedOperations(database.db, 10))).toEqual(refsOf([paused, other]));
});

test("a hundred lanes that wait for somebody to look at a difference do not keep others from their turn", async () => {
  const lease = await becomeWriter();
  const doubtful = Array.from({ length: 100 }, () => ({ ...paymentOf(newId("wal")), orgId: newId("org") }));
  await takeIn(doubtful);
  await saveDrifts(
    database.db,
    doubtful.flatMap((one) => walletsOf(one).map((walletId) => driftOf(one.orgId, walletId))),
  );
  const free = paymentOf(newId("wal"));
  await takeIn([free]);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([free]));
});

test("whatever comes in while others come in and the planner plans, all of it goes, and in its order", async () => {
  const lease = await becomeWriter();
  const orgId = newId("org");
  const { posted } = randomOperations(seeded(7), { count: 600, wallets: 12, outside: `0x${"a".repeat(40)}` });
  const all = posted.map(({ id, steps, places, holdNumber }) => ({
    ...operation(...places),
    orgId,
    operationId: holdNumber === null ? id : newId("opn").slice(4).repeat(2),
    steps,
  }));
  const batches = Array.from({ length: 60 }, (_, at) => all.slice(at * 10, at * 10 + 10));
  let coming = true;
  const planner = async () => {
    while (coming) await planOperations(database.db, lease);
  };
  const caller = async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) await takeIn(batch);
  };
  const planning = planner();
  await Promise.all([caller(), caller(), caller()]);
  coming = false;
  await planning;
  // A look goes only so far along an account.
  for (let looks = 0; looks < 20; looks += 1) await planOperations(database.db, lease);

  const turns = new Map((await plannedRefs()).map((ledgerRef, turn) => [ledgerRef, turn]));
  expect(turns.size).toBe(all.length);
  const heads = new Map<string, bigint>();
  const inTurn = [...all].sort((one, other) => turns.get(one.ledgerRef)! - turns.get(other.ledgerRef)!);
  for (const { places } of inTurn) {
    for (const { accountId, atSequence, movesTo } of places) {
      expect(heads.get(accountId) ?? 1n).toBeGreaterThanOrEqual(atSequence);
      if (movesTo !== null) heads.set(accountId, movesTo);
    }
  }
});

async function becomeWriter(): Promise<Lease> {
  return (await holdLease(database.db, `0x${"1".repeat(40)}`, "this process", 60_000))!;
}

function takeIn(operations: NewOperation[]): Promise<void> {
  return tx(database.db, (tx) => insert(tx, operations));
}

async function insert(tx: Tx, operations: NewOperation[]): Promise<void> {
  insertOperations(tx, operations, await holdHeads(tx));
}

function place(accountId: string, atSequence: bigint): Place {
  return { accountId, atSequence, movesTo: atSequence + 1n };
}

const ORG = newId("org");

/** With one step, so that it is planned and not passed over. */
function operation(...places: Place[]): NewOperation {
  const ledgerRef = newId("pay");
  const to = { toWalletId: newId("wal"), toAddress: null, amountWon: 1n as never };
  return {
    orgId: ORG,
    ledgerRef,
    relatedId: ledgerRef,
    kind: "INTENT_KIND_PAYMENT",
    operationId: ledgerRef.slice(4).repeat(2),
    steps: [{ kind: "MINT", fromWalletId: null, nonce: "", ...to }],
    requestId: newId("req"),
    traceparent: "",
    places,
  };
}

/** Out of this wallet. */
function paymentOf(walletId: string): NewOperation {
  const one = operation(place(walletId, 1n));
  const to = { toWalletId: newId("wal"), toAddress: null, amountWon: 1n as never };
  return {
    ...one,
    steps: [{ kind: "TRANSFER", fromWalletId: walletId, nonce: one.operationId, ...to }],
  };
}

function walletsOf({ steps }: NewOperation): string[] {
  return steps.map(({ fromWalletId }) => fromWalletId!);
}

function driftOf(orgId: string, walletId: string): NewDrift {
  return { orgId, walletId, kind: "CHAIN", subject: "", expected: 10n, actual: 5n, blockNumber: 1n };
}

function refsOf(operations: { ledgerRef: string }[]): string[] {
  return operations.map(({ ledgerRef }) => ledgerRef);
}

async function blockedOf(operations: NewOperation[]): Promise<(number | null)[]> {
  const rows = await database.db.query<{ ledger_ref: string; blocked: number | null }>(
    sql`select ledger_ref, blocked from operations`,
  );
  const blocked = new Map(rows.map((row) => [row.ledger_ref, row.blocked]));
  return operations.map(({ ledgerRef }) => blocked.get(ledgerRef)!);
}

async function plannedRefs(): Promise<string[]> {
  const rows = await database.db.query<{ ledger_ref: string }>(
    sql`select ledger_ref from operations where state = 'PLANNED' order by turn`,
  );
  return rows.map((row) => row.ledger_ref);
}
