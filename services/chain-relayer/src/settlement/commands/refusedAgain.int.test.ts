// Refused operations are retried so that the cause is found without burning gas repeatedly.
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { sql, tx } from "@wonrail/kit/db";
import { findAddresses, saveWalletAddresses } from "../../indexer/store/walletAddresses";
import { clampFutureRetries } from "../store/futureRetries";
import { type NewOperation } from "../store/operations";
import { acquireLease, type Lease } from "../../sender/store/transactions";
import { listPlannedOperations } from "../store/plannedOperations";
import { saveWalletBlock } from "../store/walletBlocks";
import { dryRunRetries } from "./dryRunRetries";
import { planOperations } from "./planOperations";
import { sendBatches } from "./sendBatches";
import { type ChainDouble, createChainDouble, depsOn, OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { mints, operationOf, statesOf, ingestOperations } from "../../testing/operations";

const database = freshDatabase();

test("reverted operations go in ever smaller transactions, down to one operation", async () => {
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

test("mints are retried up to the current allowance, and the rest waits without cost", async () => {
  const operations = await plannedMints(4);
  await comeBack(operations.slice(0, 3), "MintAllowanceExceeded", 1);
  const chain = createChainDouble();
  chain.mintableUnits = 2_000_000n;
  await send(chain);
  const waits = "PLANNED MintAllowanceExceeded";
  const states = async () => (await statesOf(database.db, operations)).sort();
  expect(await states()).toEqual(["IN_FLIGHT", "IN_FLIGHT", waits, waits]);
  await send(chain);
  expect(chain.sent).toHaveLength(1);
  expect((await states()).at(-1)).toBe(waits);
});

test("a mint of the whole allowance waits without gas cost and leaves another organisation its share", async () => {
  const [greedy, small] = [await mints(database.db, 1), await mints(database.db, 1)];
  const all = { ...greedy[0]!, orgId: newId("org") };
  all.steps = all.steps.map((step) => ({ ...step, amountWon: won(1_000n) }));
  await ingestOperations(database.db, [all, small[0]!]);
  await planOperations(database.db, await hold());
  const chain = createChainDouble();
  chain.mintableUnits = 1_000n * 1_000_000n;
  await send(chain);
  const states = () => statesOf(database.db, [all, small[0]!]);
  expect(await states()).toEqual(["PLANNED MintAllowanceExceeded", "IN_FLIGHT"]);

  // Signed and unmined mints count.
  await database.db.run(sql`update operations set retry_at = now() where state = 'PLANNED'`);
  await send(chain);
  expect(await states()).toEqual(["PLANNED MintAllowanceExceeded", "IN_FLIGHT"]);
  chain.mintableUnits += 1_000_000n;
  await database.db.run(sql`update operations set retry_at = now() where state = 'PLANNED'`);
  await send(chain);
  expect(await states()).toEqual(["IN_FLIGHT", "IN_FLIGHT"]);
});

test("a transfer of a blocked party waits from a minute up to hours, and is not sent", async () => {
  const [blocked] = await plannedMints(1);
  const { toWalletId } = blocked!.steps[0]!;
  const chain = createChainDouble();
  chain.blocked.add((await findAddresses(database.db, [toWalletId!])).get(toWalletId!)!.toLowerCase());
  const waits: number[] = [];
  for (let tries = 0; tries < 10; tries += 1) {
    if (tries === 0) await comeBack([blocked!], "AccountBlocked", 1);
    else
      await database.db.run(sql`
      update operations set retry_at = now(), updated_at = updated_at - (retry_at - now())`);
    await send(chain);
    const { seconds } = await database.db.one<{ seconds: number }>(
      sql`select round(extract(epoch from retry_at - updated_at))::float8 as seconds from operations`,
    );
    waits.push(seconds / 60);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 240, 240]);
  expect(await clampFutureRetries(database.db)).toBe(0);
  expect(chain.sent).toEqual([]);
  chain.blocked.clear();
  await database.db.run(sql`update operations set retry_at = now()`);
  await send(chain);
  expect(await statesOf(database.db, [blocked!])).toEqual(["IN_FLIGHT"]);
});

test("an operation of a wallet that is blocked in a final block is never sent, at no gas", async () => {
  const { db } = database;
  const [blocked, other] = [...(await plannedMints(1)), ...(await plannedMints(1))];
  const walletId = blocked!.steps[0]!.toWalletId!;
  const address = (await findAddresses(db, [walletId])).get(walletId)!.toLowerCase();
  const place = { blockNumber: 7n, blockHash: "0x7", logIndex: 0 };
  await tx(db, (tx) =>
    saveWalletBlock(tx, { walletId, orgId: blocked!.orgId, address, blocked: true, ...place }),
  );
  const chain = createChainDouble();
  chain.blocked.add(address);
  await send(chain);
  expect(await statesOf(db, [blocked!, other!])).toEqual(["PLANNED AccountBlocked", "IN_FLIGHT"]);

  // The newest block has the unblock already.
  chain.blocked.clear();
  await db.run(sql`update operations set retry_at = now()`);
  await send(chain);
  expect(await statesOf(db, [blocked!])).toEqual(["IN_FLIGHT"]);
});

test("an operation whose wallet had too little waits, at no gas, until the wallet has enough", async () => {
  const { db } = database;
  const chain = createChainDouble();
  const [poor, other] = [operationOf(), (await mints(db, 1))[0]!];
  const { fromWalletId, toWalletId } = poor.steps[0]!;
  await saveWalletAddresses(db, [
    { walletId: fromWalletId!, orgId: poor.orgId, address: `0x${"a".repeat(40)}` },
    { walletId: toWalletId!, orgId: poor.orgId, address: `0x${"b".repeat(40)}` },
  ]);
  await ingestOperations(db, [poor, other]);
  await planOperations(db, await hold());
  await comeBack([poor], "ERC20InsufficientBalance", 1);
  const goes = async () => {
    await db.run(sql`update operations set retry_at = now()`);
    const latest = await chain.provider.latestBlock();
    const may = await dryRunRetries(depsOn(db, chain), await listPlannedOperations(db, 10), latest);
    return may.map(({ ledgerRef }) => ledgerRef).sort();
  };
  chain.tokenUnits = 999_999n;
  expect(await goes()).toEqual([other.ledgerRef]);
  chain.tokenUnits = 1_000_000n;
  expect(await goes()).toEqual([poor.ledgerRef, other.ledgerRef].sort());
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
  await ingestOperations(database.db, operations);
  await planOperations(database.db, await hold());
  return operations;
}

async function hold(): Promise<Lease> {
  return (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
}
