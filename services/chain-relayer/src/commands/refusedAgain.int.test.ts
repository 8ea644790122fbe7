// What the chain has refused goes again in a way that finds out why, and does not burn the operator's gas over and over.
import { sql } from "@wonrail/kit/db";
import { type Won } from "@wonrail/kit/money";
import { newId } from "@wonrail/kit/ids";
import { encodeMintAllowance } from "../chain/contracts";
import { type NewOperation } from "../store/operations";
import { saveWalletAddresses } from "../store/walletAddresses";
import { holdLease } from "../store/transactions";
import { planOperations } from "./planOperations";
import { sendBatches } from "./sendBatches";
import {
  type ChainDouble,
  createChainDouble,
  depsOn,
  OPERATOR,
  PAYMENT_MANAGER,
  TOKEN,
} from "./testing/chainDouble";
import { freshDatabase } from "./testing/database";
import { operationOf, statesOf, takeIn } from "./testing/operations";

const database = freshDatabase();

test("what has reverted goes in ever smaller transactions, down to one operation", async () => {
  const operations = await mints(40);
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
  const operations = await mints(4);
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
  const lease = (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!;
  const signal = new AbortController().signal;
  await sendBatches(depsOn(database.db, chain), lease, { maxTransactions: 1, signal });
}

async function comeBack(operations: NewOperation[], reason: string, attempts: number): Promise<void> {
  await database.db.run(sql`
    update operations set state = 'PLANNED', transaction_id = null, attempts = ${attempts}, wait_reason = ${reason}, retry_at = now()
    where ledger_ref = any(${operations.map(({ ledgerRef }) => ledgerRef)}::text[])`);
}

/** Charges of one KRW each, planned. */
async function mints(count: number): Promise<NewOperation[]> {
  const [orgId, toWalletId] = [newId("org"), newId("wal")];
  const operations = Array.from({ length: count }, () => {
    const made = operationOf(undefined, { orgId });
    const minted = { kind: "MINT", fromWalletId: null, toWalletId, amountWon: 1n as Won } as const;
    return { ...made, steps: made.steps.map((step) => ({ ...step, ...minted })) };
  });
  await saveWalletAddresses(database.db, [{ walletId: toWalletId, orgId, address: `0x${"ab".repeat(20)}` }]);
  await takeIn(database.db, operations);
  await planOperations(
    database.db,
    (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!,
  );
  return operations;
}
