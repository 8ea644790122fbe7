import { sql, tx } from "@wonrail/kit/db";
import { type Signer } from "../../evm/signer";
import { fence, acquireLease, LeaseLostError } from "../store/transactions";
import { dispatch } from "../../settlement/commands/dispatch";
import { scanFinalized } from "../../indexer/commands/scanFinalized";
import {
  blockHashOf,
  type ChainDouble,
  createChainDouble,
  cursorAt,
  depsOn,
  NEXT_OPERATOR,
  OPERATOR,
} from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import {
  signWaitingOperations,
  operationOf,
  statesOf,
  ingestOperations,
  transactionStates,
} from "../../testing/operations";
import { watchTransactions } from "./watchTransactions";

const database = freshDatabase();

test("an unmined transaction of the retired signer is sent again a minute after its lease ended", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  await round(chain, NEXT_OPERATOR);
  await endLease(OPERATOR, 45);
  await round(chain, NEXT_OPERATOR);
  expect(await transactionStates(database.db)).toEqual(["SIGNED"]);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);

  await endLease(OPERATOR, 61);
  await round(chain, NEXT_OPERATOR);
  expect(await transactionStates(database.db)).toEqual(["LOST"]);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED signer_changed"]);
});

test("recovery stops when the retired signer's writer returns meanwhile", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  await endLease(OPERATOR, 61);
  const { receipts } = chain.provider;
  chain.provider.receipts = async (hashes) => {
    await acquireLease(database.db, OPERATOR.address, "another process", 60_000);
    return receipts(hashes);
  };
  await round(chain, NEXT_OPERATOR);
  expect(await transactionStates(database.db)).toEqual(["SIGNED"]);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);
});

test("a late writer of the retired signer is stopped", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  const sleeping = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await endLease(OPERATOR, 61);
  await round(chain, NEXT_OPERATOR);
  await expect(tx(database.db, (tx) => fence(tx, sleeping))).rejects.toThrow(LeaseLostError);
});

test("a mined transaction of the retired signer is left to finality", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  const txHash = await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  const receipt = { blockHash: blockHashOf(1_050n), gasUsed: 50_000n, succeeded: false };
  chain.receipts.set(txHash, { blockNumber: 1_050n, ...receipt });
  chain.nonces.set(OPERATOR.address, 1n);
  await endLease(OPERATOR, 61);
  await round(chain, NEXT_OPERATOR);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);
  expect(await transactionStates(database.db)).toEqual(["MINED"]);

  await cursorAt(database.db, 1_000n);
  chain.final = 1_060n;
  const deps = depsOn(database.db, chain, NEXT_OPERATOR);
  while (await scanFinalized(deps));
  expect(await transactionStates(database.db)).toEqual(["FINAL"]);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED batch_reverted"]);
});

test("a mined transaction of the retired signer is looked up again only when the head changes", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  const txHash = await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  const receipt = { blockHash: blockHashOf(1_050n), gasUsed: 50_000n, succeeded: true };
  chain.receipts.set(txHash, { blockNumber: 1_050n, ...receipt });
  await endLease(OPERATOR, 61);
  const deps = depsOn(database.db, chain, NEXT_OPERATOR);
  const dispatchOnce = () => dispatch(deps, new AbortController().signal);
  await dispatchOnce();
  await dispatchOnce();
  expect(chain.looked).toEqual([txHash]);
  chain.receipts.clear();
  chain.latest += 1n;
  await dispatchOnce();
  expect(await transactionStates(database.db)).toEqual(["LOST"]);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED signer_changed"]);
});

test("a signer that returns sends its signed transactions again, which closes the nonce gap", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  await endLease(OPERATOR, 61);
  await round(chain, NEXT_OPERATOR);
  expect(await transactionStates(database.db)).toEqual(["LOST"]);

  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 1n });
  await watch(chain);
  await watch(chain);
  expect(await transactionStates(database.db)).toEqual(["SENT", "SENT"]);
  expect(new Set(chain.sent).size).toBe(2);
});

function round(chain: ChainDouble, signer: Signer): Promise<boolean> {
  return dispatch(depsOn(database.db, chain, signer), new AbortController().signal);
}

async function watch(chain: ChainDouble): Promise<void> {
  const lease = await acquireLease(database.db, OPERATOR.address, "this process", 60_000);
  await watchTransactions(depsOn(database.db, chain), lease!);
}

async function endLease({ address }: Signer, secondsAgo: number): Promise<void> {
  await database.db.run(sql`
    update signers set lease_ends_at = clock_timestamp() - make_interval(secs => ${secondsAgo}) where address = ${address}`);
}
