// What the chain has refused goes again in a way that finds out why, and does not burn the operator's gas over and over.
import { sql } from "@wonrail/kit/db";
import { encodeMintAllowance } from "../../evm/contracts";
import { type NewOperation } from "../store/operations";
import { holdLease, type Lease } from "../../sender/store/transactions";
import { planOperations } from "./planOperations";
import { sendBatches } from "./sendBatches";
import {
  type ChainDouble,
  createChainDouble,
  depsOn,
  OPERATOR,
  PAYMENT_MANAGER,
  TOKEN,
} from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { mints, statesOf, takeIn } from "../../testing/operations";

const database = freshDatabase();

test("what has reverted goes in ever smaller transactions, down to one operation", async () => {
  const operations = await plannedMints(40);
  await comeBack(operations, "batch_reverted", 0);
  const carried: number[] = [];
  for (const attempts of [1, 2, 3, 4, 9]) {
    await comeBack(operations, "batch_reverted", attempts);
    await send(createChainDouble());
    carried.push((await statesOf(database.db, operations)).filter((state) => state === "IN_FLIGHT").length);
  }
  expect(carried).toEqual([40, 20, 5, 3, 1]);
});

test("of what may not be minted, as much goes again as is allowed by now; the rest waits, and costs nothing", async () => {
  const operations = await plannedMints(4);
  await comeBack(operations.slice(0, 3), "MintAllowanceExceeded", 1);
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  chain.provider.callAt = async (to, data, ...rest) =>
    to === TOKEN && data === encodeMintAllowance(PAYMENT_MANAGER) ? "0x1e8480" : callAt(to, data, ...rest);
  await send(chain);
  const waits = "PLANNED MintAllowanceExceeded";
  const states = async () => (await statesOf(database.db, operations)).sort();
  expect(await states()).toEqual(["IN_FLIGHT", "IN_FLIGHT", "IN_FLIGHT", waits]);
  await send(chain);
  expect(chain.sent).toHaveLength(1);
  expect((await states()).at(-1)).toBe(waits);
});

async function send(chain: ChainDouble): Promise<void> {
  const signal = new AbortController().signal;
  await sendBatches(depsOn(database.db, chain), await hold(), { maxTransactions: 1, signal });
}

async function comeBack(operations: NewOperation[], reason: string, attempts: number): Promise<void> {
  await database.db.run(sql`
    update operations set state = 'PLANNED', transaction_id = null, attempts = ${attempts}, wait_reason = ${reason}, retry_at = now()
    where ledger_ref = any(${operations.map(({ ledgerRef }) => ledgerRef)}::text[])`);
}

async function plannedMints(count: number): Promise<NewOperation[]> {
  const operations = await mints(database.db, count);
  await takeIn(database.db, operations);
  await planOperations(database.db, await hold());
  return operations;
}

async function hold(): Promise<Lease> {
  return (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!;
}
