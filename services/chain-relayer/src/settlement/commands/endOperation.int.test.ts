import { listOperatorActions } from "@wonrail/kit/admin";
import { sql } from "@wonrail/kit/db";
import { testOperator } from "@wonrail/kit/testing";
import { saveWalletAddresses } from "../../indexer/store/walletAddresses";
import { type NewOperation } from "../store/operations";
import { createChainDouble, cursorAt, blockHashOf, depsOn, TOKEN } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { holdOf, operationOf, statesOf, ingestOperations, ingestExpiredHold } from "../../testing/operations";
import { type Decision } from "../domain/findEndings";
import { endOperation } from "./endOperation";
import { expireHolds } from "./expireHolds";

const database = freshDatabase();
const [FROM, TO] = [`0x${"5".repeat(40)}`, `0x${"6".repeat(40)}`];
const TX_HASH = `0x${"7".repeat(64)}`;

test("a final transaction with exactly its steps settles an operation, and the decision is recorded", async () => {
  const operation = await deadEnd("name_taken");
  expect(await end(operation, "settled_elsewhere")).toBe("done");
  expect(await statesOf(database.db, [operation])).toEqual(["CONFIRMED"]);
  expect(await database.db.query(sql`select type from outbox`)).toEqual([{ type: "operations_confirmed" }]);
  expect(await actions()).toMatchObject([
    { operator: "tester", reason: "seen by hand", orgId: operation.orgId, subject: operation.ledgerRef },
  ]);
  const [action] = await actions();
  expect(JSON.parse(action!.details)).toEqual({ decision: "settled_elsewhere", txHash: TX_HASH });
});

test.each([
  ["moved less", { units: 1n }, 900n],
  ["moved it to another address", { to: FROM }, 900n],
  ["is not indexed yet", {}, 1_001n],
])("a transaction that %s proves nothing", async (_, change, blockNumber) => {
  const operation = await deadEnd("name_taken");
  expect(await end(operation, "settled_elsewhere", { change, blockNumber })).toBe("no_proof");
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED name_taken"]);
  expect(await actions()).toEqual([]);
});

test("a transaction that has settled another operation proves nothing", async () => {
  expect(await end(await deadEnd("name_taken"), "settled_elsewhere")).toBe("done");
  expect(await end(await deadEnd("name_taken"), "settled_elsewhere")).toBe("no_proof");
});

test("an operation whose name was taken continues under another name", async () => {
  const operation = await deadEnd("name_taken");
  expect(await end(operation, "sign_anew")).toBe("done");
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED"]);
  const { operation_id: operationId } = await database.db.one<{ operation_id: string }>(
    sql`select operation_id from operations`,
  );
  expect(operationId).not.toBe(operation.operationId);
  const otherwise = await deadEnd("custody_signed_otherwise");
  expect(await end(otherwise, "sign_anew")).toBe("custody_signs_no_other");
});

test("a hold is given up once that is proven safe, and an entry never", async () => {
  const { db } = database;
  const hold = await deadEnd("custody_signed_otherwise", holdOf());
  const deps = depsOn(db, createChainDouble());
  const { signal } = new AbortController();
  await expireHolds(deps, signal);
  expect(await statesOf(db, [hold])).toEqual(["PLANNED custody_signed_otherwise"]);
  expect(await end(hold, "give_up")).toBe("done");
  await expireHolds(deps, signal);
  expect(await statesOf(db, [hold])).toEqual(["FAILED given_up_by_operator"]);
  expect(await end(await deadEnd("name_taken"), "give_up")).toBe("only_a_hold_is_given_up");
});

test("an operation that waits for another reason cannot be ended", async () => {
  const operation = await deadEnd("EnforcedPause");
  expect(await end(operation, "sign_anew")).toBe("not_at_a_dead_end");
});

test("a blocked entry can only be read again or passed over", async () => {
  const { db } = database;
  const blocked = operationOf(undefined, { blockedReason: "unreadable", orgSequence: 7n });
  await ingestOperations(db, [blocked]);
  await db.run(sql`update settlement_queues set head_sequence = 9, cursor_sequence = 9, cursor_ref = 'x'`);
  expect(await end(blocked, "sign_anew")).toBe("another_way");
  expect(await end(blocked, "read_again")).toBe("done");
  expect(await db.one(sql`select cursor_sequence, cursor_ref from settlement_queues`)).toEqual({
    ...{ cursor_sequence: 6n, cursor_ref: "" },
  });
  expect(await end(blocked, "pass_over")).toBe("done");
  expect(await statesOf(db, [blocked])).toEqual(["PASSED"]);
  expect(await end(blocked, "pass_over")).toBe("not_at_a_dead_end");
  expect(await end(await deadEnd("name_taken"), "pass_over")).toBe("another_way");
});

/** An operation that waits for this reason, with known wallet addresses. */
async function deadEnd(reason: string, operation = operationOf()): Promise<NewOperation> {
  await ingestExpiredHold(database.db, operation, { reason });
  await database.db.run(
    sql`update operations set expires_at = null where expires_at > now() - interval '1 minute'`,
  );
  const { orgId, steps } = operation;
  const [step] = steps;
  await database.db.run(sql`delete from wallet_addresses`);
  await saveWalletAddresses(database.db, [
    { walletId: step!.fromWalletId!, orgId, address: FROM },
    { walletId: step!.toWalletId!, orgId, address: TO },
  ]);
  await cursorAt(database.db, 1_000n, 4_000_000_000n);
  return operation;
}

function end(
  { ledgerRef }: NewOperation,
  decision: Decision,
  { change = {}, blockNumber = 900n }: { change?: object; blockNumber?: bigint } = {},
) {
  const { provider } = createChainDouble();
  provider.callAt = () => Promise.resolve(`0x${TOKEN.slice(2).padStart(64, "0")}`);
  const moved = { from: FROM, to: TO, units: 1_000_000n, ...change };
  const place = { blockNumber, blockHash: blockHashOf(blockNumber) };
  const receipt = { ...place, gasUsed: 1n, succeeded: true, transfers: [moved] };
  provider.transferReceipts = () => Promise.resolve(new Map([[TX_HASH, receipt]]));
  const txHash = decision === "settled_elsewhere" ? TX_HASH : null;
  const given = { decision, txHash, operator: testOperator({ reason: "seen by hand" }) };
  return endOperation({ db: database.db, provider, network: "WON_TESTNET" }, ledgerRef, given);
}

function actions() {
  return listOperatorActions(database.db, { limit: 10 });
}
