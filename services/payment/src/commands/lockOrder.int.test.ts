import { join } from "node:path";
import { type Database, openDatabase, rawSql, sql, tx, type Tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { type Outcome } from "@wonrail/kit/lane";
import { createTestDatabase, eventually, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { PostResponse } from "@wonrail/proto/ledger/v1/ledger";
import { SettlementStatus } from "@wonrail/proto/payment/v1/payment";
import { type Claim } from "../store/operations";
import { findSettlements, holdSettlements, type SettlementChange } from "../store/settlements";
import { claimKeys } from "./claimKeys";
import { type Facts } from "./flows/flow";
import { type Decided, recordOutcomes } from "./recordOutcomes";
import { recordSettlements } from "./recordSettlements";

// Two replicas that come to the same rows in another order do not wait for each other in a circle.

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterEach(() => database.drop());

const orgId = newId("org");

test("two replicas with keys to claim both claim them", async () => {
  const claimOf = (idempotencyKey: string): Claim => ({
    ...{ orgId, operationId: newId("chg"), idempotencyKey, bodyHash: Buffer.alloc(32) },
    input: { kind: "CHARGE", walletId: newId("wal"), amountWon: "1000", memo: null },
    ...{ requestId: newId("req"), traceparent: "" },
  });
  const claims = [["a", "m", "z"].map(claimOf), ["z", "m", "a"].map(claimOf)];
  const [first, second] = await inTurns(
    (tx) =>
      tx.run(sql`
        insert into operations (org_id, operation_id, kind, idempotency_key, body_hash, input, state, request_id, traceparent)
        values (${orgId}, ${newId("chg")}, 'CHARGE', 'm', ${Buffer.alloc(32)}, '{}', 'CLAIMED', '', '')`),
    (db, replica) => claimKeys(db, claims[replica]!),
  );
  const ids = (outcomes: Outcome<{ operationId: string }>[]) =>
    outcomes.map((outcome) => (outcome.ok ? outcome.value.operationId : outcome.error));
  expect(ids(first!)).toEqual(ids(second!).reverse());
}, 30_000);

test("two replicas with parts of charges to write down both write them", async () => {
  const charges = ["a", "m", "z"].map((letter) => `chg_${letter}`);
  await database.db.run(sql`
    insert into charges (org_id, charge_id, wallet_id, amount_won, balance_won, created_at)
    select ${orgId}, id, 'wal_1', 1000, 1000, now() from unnest(${charges}::text[]) id`);
  const decided = await Promise.all(
    [charges, [...charges].reverse()].map((ids) => Promise.all(ids.map((id) => partOf(id, orgId)))),
  );
  const answers = await inTurns(
    (tx) => tx.run(sql`update charges set memo = 'm' where charge_id = 'chg_m'`),
    (db, replica) => recordOutcomes({ db, facts: { network: "N" } as Facts }, decided[replica]!),
  );
  expect(answers.flat().map(({ ok }) => ok)).toEqual(Array(6).fill(true));
}, 30_000);

test.each([
  ["more words", true],
  ["the first words", false],
])(
  "two replicas with %s of the chain and cancellations of what they are about both end, also of several organisations",
  async (_, said) => {
    const charges = [newId("chg"), newId("chg")].sort();
    const organisations = [newId("org"), newId("org")].sort();
    // The smaller organisation has the greater charge: the two ways to order them differ.
    const originals = charges.map((chargeId, index) => ({ chargeId, orgId: organisations[1 - index]! }));
    for (const one of originals) {
      await insertCharge(one);
      if (said) await tx(database.db, (tx) => recordSettlements(tx, [wordOf(one, "SUBMITTED")]));
    }
    const decided = await Promise.all(originals.map(({ orgId, chargeId }) => partOf(chargeId, orgId)));
    const answers = await inTurns(
      (tx) => recordSettlements(tx, [wordOf(originals[1]!, "SUBMITTED")]),
      async (db, replica) => {
        if (replica === 1)
          return tx(db, (tx) =>
            recordSettlements(
              tx,
              originals.map((one) => wordOf(one, "CONFIRMED")),
            ),
          );
        const outcomes = await recordOutcomes({ db, facts: { network: "N" } as Facts }, decided);
        expect(outcomes.map(({ ok }) => ok)).toEqual([true, true]);
      },
    );
    expect(answers).toHaveLength(2);
  },
  30_000,
);

test("the last word stays, in whatever order a batch has them", async () => {
  const [early, late] = [
    { orgId, chargeId: newId("chg") },
    { orgId, chargeId: newId("chg") },
  ];
  await tx(database.db, (tx) =>
    recordSettlements(tx, [
      ...[wordOf(early, "CONFIRMED"), wordOf(early, "SUBMITTED")],
      ...[wordOf(late, "SUBMITTED"), wordOf(late, "CONFIRMED")],
    ]),
  );
  const statuses = sql`select distinct status from settlements where ledger_ref in (${early.chargeId}, ${late.chargeId})`;
  expect(await database.db.query(statuses)).toEqual([{ status: "CONFIRMED" }]);
});

test.each([
  ["a word", true],
  ["the first word", false],
])(
  "a cancellation waits for %s of the chain that is being written down, and tells of it",
  async (_, said) => {
    const original = { orgId, chargeId: newId("chg") };
    await insertCharge(original);
    if (said) await tx(database.db, (tx) => recordSettlements(tx, [wordOf(original, "SUBMITTED")]));
    const replica = openReplica();
    const part = await partOf(original.chargeId, orgId);
    const { recording } = await tx(database.db, async (tx) => {
      await recordSettlements(tx, [wordOf(original, "CONFIRMED")]);
      const facts = { network: "N" } as Facts;
      const recording = recordOutcomes({ db: replica, facts }, [part]);
      const waiting = eventually(() => expectCount(`${REPLICAS} and wait_event_type = 'Lock'`, 1n));
      await Promise.race([recording, waiting]);
      return { recording };
    });
    const told = (await recording)[0]!;
    expect(told).toMatchObject({
      ok: true,
      value: { outcome: { value: { charge: { settlement: { status: SettlementStatus.CONFIRMED } } } } },
    });
    await replica.close();
  },
  30_000,
);

test("the first word of the chain waits for a cancellation that has found none, and is told behind it", async () => {
  const original = { orgId, chargeId: newId("chg") };
  const of = { orgId, ledgerRef: original.chargeId };
  await insertCharge(original);
  const replica = openReplica();
  const { taken } = await tx(database.db, async (open) => {
    holdSettlements(open, [of, of]);
    expect((await findSettlements(open, orgId, [of.ledgerRef])).size).toBe(0);
    const taken = tx(replica, (tx) => recordSettlements(tx, [wordOf(original, "CONFIRMED")]));
    await eventually(() => expectCount(`${REPLICAS} and wait_event_type = 'Lock'`, 1n));
    return { taken };
  });
  await taken;
  const settlements = await findSettlements(database.db, orgId, [of.ledgerRef]);
  expect(settlements.get(of.ledgerRef)).toMatchObject({ status: "CONFIRMED", network: "N", blockNumber: 7n });
  await replica.close();
}, 30_000);

function insertCharge({ orgId, chargeId }: { orgId: string; chargeId: string }): Promise<unknown> {
  return database.db.run(sql`
    insert into charges (org_id, charge_id, wallet_id, amount_won, balance_won, created_at)
    values (${orgId}, ${chargeId}, 'wal_1', 1000, 1000, now())`);
}

function wordOf(
  { orgId, chargeId }: { orgId: string; chargeId: string },
  status: "SUBMITTED" | "CONFIRMED",
): SettlementChange {
  const blockNumber = status === "SUBMITTED" ? null : 7n;
  const place = { network: "N", txHash: `0x${"a".repeat(64)}`, blockNumber };
  return { orgId, ledgerRef: chargeId, status, ...place, requestId: newId("req"), traceparent: "" };
}

/** A part of a charge to be cancelled, which is claimed, and what the ledger said of it. */
async function partOf(chargeId: string, orgId: string): Promise<Decided> {
  const operationId = newId("ccl");
  const [claimed] = await claimKeys(database.db, [
    {
      ...{ orgId, operationId, idempotencyKey: null, bodyHash: Buffer.alloc(32) },
      input: { kind: "CANCEL_CHARGE", chargeId, amountWon: "100", memo: null },
      ...{ requestId: newId("req"), traceparent: "" },
    },
  ]);
  if (!claimed?.ok) throw new Error("the key was not claimed");
  return {
    operation: claimed.value,
    entry: PostResponse.fromPartial({
      ...{ requestId: operationId, postedAt: new Date() },
      postings: [{ accountId: "wal_1", amountWon: "-100" }],
      result: { $case: "chargeCancelled", value: { cancelledWon: "100", remainingWon: "900" } },
    }),
  };
}

/** Somebody has the row in the middle until both replicas have come to it, or to one that the other has. */
async function inTurns<T>(
  hold: (tx: Tx) => Promise<unknown>,
  work: (db: Database, replica: number) => Promise<T>,
): Promise<T[]> {
  const replicas = [openReplica(), openReplica()];
  const { both } = await tx(database.db, async (tx) => {
    await hold(tx);
    const both = replicas.map(work);
    await eventually(() => expectCount(`${REPLICAS} and wait_event_type = 'Lock'`, 2n));
    return { both };
  });
  const done = await Promise.all(both);
  // What a connection has counted is told at the latest when it ends.
  await Promise.all(replicas.map((db) => db.close()));
  await eventually(() => expectCount(REPLICAS, 0n));
  await expectCount("pg_stat_database where datname = current_database() and deadlocks > 0", 0n);
  return done;
}

function openReplica(): Database {
  return openDatabase({ url: database.url, schema: "payment", applicationName: "replica", log: testLog() });
}

const REPLICAS = "pg_stat_activity where application_name like 'replica%' and datname = current_database()";

async function expectCount(rows: string, count: bigint): Promise<void> {
  expect(await database.db.one(rawSql(`select count(*) from ${rows}`))).toEqual({ count });
}
