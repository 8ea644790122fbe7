import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { acknowledgeDrifts, type NewDrift, saveDrifts } from "../../reconciliation/store/drifts";
import { fence, acquireLease, type Lease, LeaseLostError } from "../../sender/store/transactions";
import { freshDatabase, untilSomebodyWaits } from "../../testing/database";
import { operationOf, statesOf, ingestOperations } from "../../testing/operations";
import { type NewOperation } from "../store/operations";
import { countPlannedOperations, listPlannedOperations } from "../store/plannedOperations";
import { setQueuePause } from "../store/settlementQueues";
import { planOperations } from "./planOperations";

const database = freshDatabase();

test("operations of a wallet are planned in the order of the journal", async () => {
  const lease = await becomeWriter();
  const [payer, payee] = [newId("wal"), newId("wal")];
  const all = [[payer], [payer, payee], [payee, payer]].map((wallets) => operationOf(payer, { wallets }));
  await ingestOperations(database.db, all.toReversed());
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf(all));
});

test("a second pull of an operation changes nothing", async () => {
  const lease = await becomeWriter();
  const [first, second] = [operationOf(), operationOf()];
  await ingestOperations(database.db, [first]);
  await planOperations(database.db, lease);
  await ingestOperations(database.db, [first, second]);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([first, second]));
});

test("only one writer plans while the operator's key changes", async () => {
  const lease = await becomeWriter();
  const other = (await acquireLease(database.db, `0x${"2".repeat(40)}`, "another process", 60_000))!;
  const one = operationOf();
  await ingestOperations(database.db, [one]);
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

test("a planner that lost its lease plans nothing", async () => {
  const lease = await becomeWriter();
  const stale = { ...lease, epoch: lease.epoch - 1n };
  await expect(planOperations(database.db, stale)).rejects.toThrow(LeaseLostError);
});

test("a drift stops planned operations of its wallet until an operator acknowledges it", async () => {
  const lease = await becomeWriter();
  const [doubtful, other] = [operationOf(), operationOf()];
  await ingestOperations(database.db, [doubtful, other]);
  await planOperations(database.db, lease);
  const walletId = payerOf(doubtful);
  await saveDrifts(database.db, [driftOf(doubtful)]);
  expect(refsOf(await listPlannedOperations(database.db, 10))).toEqual(refsOf([other]));
  // Otherwise thousands of them would leave no room for others.
  expect(await countPlannedOperations(database.db)).toBe(1);

  await acknowledgeDrifts(database.db, { walletId }, "an operator");
  expect(refsOf(await listPlannedOperations(database.db, 10))).toEqual(refsOf([doubtful, other]));
});

test("a drift blocks later operations of its wallets, and nothing else of its organisation", async () => {
  const lease = await becomeWriter();
  const [payer, payee] = [newId("wal"), newId("wal")];
  const doubtful = operationOf(payer, { wallets: [payer, payee] });
  const [behind, other] = [operationOf(payee), operationOf()];
  await ingestOperations(database.db, [doubtful, behind, other]);
  await saveDrifts(database.db, [driftOf(doubtful)]);
  await planOperations(database.db, lease);
  const states = () => statesOf(database.db, [doubtful, behind, other]);
  expect(await states()).toEqual(["WAITING held_up", "WAITING held_up", "PLANNED"]);

  await acknowledgeDrifts(database.db, { walletId: payer }, "an operator");
  await planOperations(database.db, lease);
  expect(await states()).toEqual(["PLANNED", "PLANNED", "PLANNED"]);
  expect(await plannedRefs()).toEqual(refsOf([other, doubtful, behind]));
});

test("a blocked entry blocks later ones of its wallets until an operator passes it over", async () => {
  const lease = await becomeWriter();
  const walletId = newId("wal");
  const blocked = operationOf(walletId, { blockedReason: "unreadable" });
  const behind = operationOf(walletId);
  await ingestOperations(database.db, [blocked, behind]);
  await planOperations(database.db, lease);
  expect(await statesOf(database.db, [blocked, behind])).toEqual(["BLOCKED unreadable", "WAITING held_up"]);
  await database.db.run(sql`update operations set state = 'PASSED' where state = 'BLOCKED'`);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([behind]));
});

test("a paused queue is planned after its resumption, and others meanwhile", async () => {
  const lease = await becomeWriter();
  const [paused, other] = [operationOf(), operationOf(newId("wal"), { orgId: newId("org") })];
  await ingestOperations(database.db, [paused, other]);
  await setQueuePause(database.db, paused.orgId, "asked to");
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([other]));
  await setQueuePause(database.db, paused.orgId, null);
  await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([other, paused]));
});

test("a pause stops planned operations as well, and they take no room", async () => {
  const lease = await becomeWriter();
  const [paused, other] = [operationOf(), operationOf(newId("wal"), { orgId: newId("org") })];
  await ingestOperations(database.db, [paused]);
  await planOperations(database.db, lease);
  await ingestOperations(database.db, [other]);
  await planOperations(database.db, lease);
  await setQueuePause(database.db, paused.orgId, "asked to");
  expect(refsOf(await listPlannedOperations(database.db, 10))).toEqual(refsOf([other]));
  expect(await countPlannedOperations(database.db)).toBe(1);
  await setQueuePause(database.db, paused.orgId, null);
  expect(refsOf(await listPlannedOperations(database.db, 10))).toEqual(refsOf([paused, other]));
});

test("a hundred queues with drifts do not keep others from their turn", async () => {
  const lease = await becomeWriter();
  const doubtful = Array.from({ length: 100 }, () => operationOf(newId("wal"), { orgId: newId("org") }));
  await ingestOperations(database.db, doubtful);
  await saveDrifts(database.db, doubtful.map(driftOf));
  await planOperations(database.db, lease);
  const free = operationOf();
  await ingestOperations(database.db, [free]);
  for (let looks = 0; looks < 2; looks += 1) await planOperations(database.db, lease);
  expect(await plannedRefs()).toEqual(refsOf([free]));
});

test("a long queue leaves room for a short one", async () => {
  const lease = await becomeWriter();
  const long = Array.from({ length: 4_500 }, () => operationOf());
  const short = operationOf(newId("wal"), { orgId: newId("org") });
  await ingestOperations(database.db, [...long, short]);
  await planOperations(database.db, lease);
  expect((await statesOf(database.db, [short]))[0]).toBe("PLANNED");
  expect(await countPlannedOperations(database.db)).toBe(4_000);
});

async function becomeWriter(): Promise<Lease> {
  return (await acquireLease(database.db, `0x${"1".repeat(40)}`, "this process", 60_000))!;
}

function payerOf({ steps }: NewOperation): string {
  return steps[0]!.fromWalletId!;
}

function driftOf(operation: NewOperation): NewDrift {
  const place = { orgId: operation.orgId, walletId: payerOf(operation), subject: "" };
  return { ...place, kind: "CHAIN", expected: 10n, actual: 5n, blockNumber: 1n };
}

function refsOf(operations: { ledgerRef: string }[]): string[] {
  return operations.map(({ ledgerRef }) => ledgerRef);
}

async function plannedRefs(): Promise<string[]> {
  const rows = await database.db.query<{ ledger_ref: string }>(
    sql`select ledger_ref from operations where state = 'PLANNED' order by turn`,
  );
  return rows.map((row) => row.ledger_ref);
}
