import { newId } from "@wonrail/kit/contract/ids";
import { sql, tx } from "@wonrail/kit/db";
import { acquireLease } from "../../sender/store/transactions";
import { createChainDouble, cursorAt, depsOn, OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import {
  holdOf,
  ingestOperations,
  operationOf,
  signWaitingOperations,
  statesOf,
} from "../../testing/operations";
import { markInFlight, type NewOperation } from "../store/operations";
import { listPlannedOperations } from "../store/plannedOperations";
import { expireHolds } from "./expireHolds";
import { orderSettlement, type OrderedSettlement } from "./orderSettlement";
import { planOperations } from "./planOperations";

const database = freshDatabase();

test("a held settlement and the later ones of its wallets wait until it is released", async () => {
  const held = operationOf();
  const later = operationOf(held.wallets[0]);
  const other = operationOf();
  await ingestOperations(database.db, [held, later, other]);
  expect(await order(held, "HOLD")).toBe("HELD");
  await plan();
  expect(await sendable()).toEqual([other.ledgerRef]);
  expect(await order(held, "RELEASE")).toBe("RELEASED");
  await plan();
  expect(await sendable()).toEqual([other, held, later].map(({ ledgerRef }) => ledgerRef));
});

test("a planned settlement that is held is not sent", async () => {
  const held = operationOf();
  await ingestOperations(database.db, [held]);
  await plan();
  expect(await sendable()).toEqual([held.ledgerRef]);
  expect(await order(held, "HOLD")).toBe("HELD");
  expect(await sendable()).toEqual([]);
  expect(await order(held, "RELEASE")).toBe("RELEASED");
  expect(await sendable()).toEqual([held.ledgerRef]);
});

test("a writer that has chosen a settlement before it was held does not bind it", async () => {
  const held = operationOf();
  await ingestOperations(database.db, [held]);
  await plan();
  const chosen = await listPlannedOperations(database.db, 10);
  await order(held, "HOLD");
  const bind = tx(database.db, (tx) => markInFlight(tx, chosen, 1n, "0x1"));
  await expect(bind).rejects.toThrow("the sandbox holds it");
});

test("a hold that is ordered to fail is FAILED with the proof of a later final block", async () => {
  const hold = holdOf();
  await ingestOperations(database.db, [hold]);
  expect(await order(hold, "FAIL")).toBe("FAILING");
  await cursorAt(database.db, 1_000n, 1n);
  await expire();
  // The final block is older than the order, so it proves nothing.
  expect(await statesOf(database.db, [hold])).toEqual(["PLANNED failed_in_sandbox"]);
  expect(await sendable()).toEqual([]);
  await cursorAt(database.db, 1_000n, 4_000_000_000n);
  await expire();
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED failed_in_sandbox"]);
  const types = await database.db.query(sql`select type from outbox`);
  expect(types).toEqual([{ type: "operation_failed" }]);
  await expect(order(hold, "RELEASE")).rejects.toMatchObject({
    code: "SBX_002",
    details: { state: "FAILED" },
  });
});

test("a failing hold that is released settles in its place", async () => {
  const hold = holdOf();
  await ingestOperations(database.db, [hold]);
  await order(hold, "FAIL");
  await cursorAt(database.db, 1_000n, 1n);
  await expire();
  expect(await order(hold, "RELEASE")).toBe("RELEASED");
  expect(await statesOf(database.db, [hold])).toEqual(["WAITING"]);
  await plan();
  expect(await sendable()).toEqual([hold.ledgerRef]);
});

test("a settlement whose money has moved in the ledger cannot fail, and is held instead", async () => {
  const payment = operationOf();
  await ingestOperations(database.db, [payment]);
  expect(await order(payment, "FAIL")).toBe("HELD");
  await cursorAt(database.db, 1_000n, 4_000_000_000n);
  await expire();
  await plan();
  expect(await statesOf(database.db, [payment])).toEqual(["WAITING held_up"]);
});

test("a sent settlement, an unknown one and one of another organisation are refused", async () => {
  const sent = operationOf();
  await ingestOperations(database.db, [sent]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  const refused = { code: "SBX_002", details: { state: "SUBMITTED" } };
  for (const wanted of ["HOLD", "FAIL", "RELEASE"] as const)
    await expect(order(sent, wanted)).rejects.toMatchObject(refused);
  await expect(order(operationOf(), "HOLD")).rejects.toMatchObject({ code: "SBX_001" });
  await expect(order({ ...sent, orgId: newId("org") }, "HOLD")).rejects.toMatchObject({ code: "SBX_001" });
});

function order({ orgId, ledgerRef }: NewOperation, wanted: OrderedSettlement["order"]) {
  return orderSettlement(database, { orgId, ledgerRef, order: wanted });
}

async function plan(): Promise<void> {
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
}

async function sendable(): Promise<string[]> {
  return (await listPlannedOperations(database.db, 100)).map(({ ledgerRef }) => ledgerRef);
}

function expire(): Promise<void> {
  return expireHolds(depsOn(database.db, createChainDouble()), new AbortController().signal);
}
