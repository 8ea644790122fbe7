import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { acquireLease, LeaseLostError } from "../store/transactions";
import {
  blockHashOf,
  type ChainDouble,
  createChainDouble,
  depsOn,
  NEXT_OPERATOR,
  OPERATOR,
} from "../../testing/chainDouble";
import {
  age,
  signWaitingOperations,
  operationOf,
  statesOf,
  ingestOperations,
  transactionStates,
} from "../../testing/operations";
import { type WatchDeps, watchTransactions } from "./watchTransactions";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../../../migrations"),
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await database.drop();
});

test("the nonce at a final block is requested only when a used nonce may belong to another transaction", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 5n });
  chain.nonces.set(OPERATOR.address, 5n);
  await watch(chain);
  expect(chain.asked).toEqual([`${OPERATOR.address} latest`]);
  expect(chain.sent).toHaveLength(1);

  chain.nonces.set(OPERATOR.address, 6n);
  await watch(chain);
  expect(chain.asked.at(-1)).toBe(`${OPERATOR.address} 1000`);
  expect(await transactionStates(database.db)).toEqual(["LOST"]);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED nonce_taken"]);
});

test("a transaction with a used nonce is given up and counted, and the next nonce is kept", async () => {
  const chain = createChainDouble();
  const [taken, next] = [operationOf(), operationOf()];
  await ingestOperations(database.db, [taken]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 5n });
  await ingestOperations(database.db, [next]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 6n });
  chain.nonces.set(OPERATOR.address, 6n);
  const { lost } = depsOn(database.db, chain);
  await watch(chain, { lost });
  expect(await transactionStates(database.db)).toEqual(["LOST", "SENT"]);
  expect(await statesOf(database.db, [taken, next])).toEqual(["PLANNED nonce_taken", "IN_FLIGHT"]);
  expect((await lost.get()).values[0]!.value).toBe(1);
});

test.each<[string, string, (chain: ChainDouble, txHash: string) => unknown]>([
  ["is mined, and final at once,", "SIGNED", mine],
  ["is said to be final by another replica", "FINAL", sayFinal],
])(
  "a transaction that %s during the nonce look-up is neither given up nor counted",
  async (_, state, happen) => {
    const chain = createChainDouble();
    const operation = operationOf();
    await ingestOperations(database.db, [operation]);
    const txHash = await signWaitingOperations(database.db, OPERATOR, { nonce: 5n });
    chain.nonces.set(OPERATOR.address, 6n);
    const nonce: WatchDeps["provider"]["nonce"] = async (address, at) => {
      if (typeof at === "bigint") await happen(chain, txHash);
      return chain.provider.nonce(address, at);
    };
    const { lost } = depsOn(database.db, chain);
    await watch(chain, { lost, provider: { ...chain.provider, nonce } });
    expect(chain.asked).toHaveLength(2);
    expect(await transactionStates(database.db)).toEqual([state]);
    expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);
    expect((await lost.get()).values[0]!.value).toBe(0);
  },
);

test.each<[string, bigint, (chain: ChainDouble) => unknown]>([
  ["bumps no fees", 0n, () => age(database.db, "1 hour")],
  ["empties nothing", 0n, (chain) => (chain.refusal = "oversized data")],
  ["gives nothing up", 0n, (chain) => chain.nonces.set(OPERATOR.address, 1n)],
  ["fills no gap", 1n, () => undefined],
])("a writer that lost its lease %s", async (_, nonce, happen) => {
  const chain = createChainDouble();
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  await signWaitingOperations(database.db, OPERATOR, { nonce });
  await happen(chain);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  const watching = watchTransactions(depsOn(database.db, chain), { ...lease, epoch: lease.epoch - 1n });
  await expect(watching).rejects.toThrow(LeaseLostError);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);
  expect(await database.db.query(sql`select from transaction_versions`)).toHaveLength(1);
});

test("a writer that lost its lease recovers no lost transaction", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 1n });
  await database.db.run(sql`update transactions set state = 'LOST'`);
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 2n });
  chain.nonces.set(OPERATOR.address, 1n);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  const watching = watchTransactions(depsOn(database.db, chain), { ...lease, epoch: lease.epoch - 1n });
  await expect(watching).rejects.toThrow(LeaseLostError);
  expect(await transactionStates(database.db)).toEqual(["LOST", "SIGNED"]);
  expect(chain.sent).toEqual([]);
});

test("a nonce gap is filled although another key used that nonce", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, NEXT_OPERATOR, { nonce: 1n });
  const lease = await acquireLease(database.db, NEXT_OPERATOR.address, "this process", 60_000);
  await watchTransactions(depsOn(database.db, chain, NEXT_OPERATOR), lease!);
  const nonces = await database.db.query(
    sql`select nonce from transactions where signer = ${NEXT_OPERATOR.address} order by nonce`,
  );
  expect(nonces).toEqual([{ nonce: 0n }, { nonce: 1n }]);
});

test("a mined transaction is looked up again only when the head changes, also to one of the same height", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  const mined = await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  await ingestOperations(database.db, [operationOf()]);
  const waiting = await signWaitingOperations(database.db, OPERATOR, { nonce: 1n });
  mine(chain, mined);
  chain.nonces.set(OPERATOR.address, 1n);
  const headsSeen = new Map<string, string>();
  await watch(chain, { headsSeen });
  await watch(chain, { headsSeen });
  await watch(chain, { headsSeen });
  expect(chain.looked).toEqual([mined, waiting, waiting, waiting]);
  expect(await transactionStates(database.db)).toEqual(["MINED", "SENT"]);
  chain.latest += 1n;
  await watch(chain, { headsSeen });
  expect(chain.looked.slice(4)).toEqual([mined, waiting]);

  const { latestBlock } = chain.provider;
  chain.provider.latestBlock = async () => ({ ...(await latestBlock()), hash: "0xanother" });
  chain.receipts.clear();
  chain.nonces.clear();
  chain.sent = [];
  await watch(chain, { headsSeen, resendAfterMs: 60_000 });
  expect(await transactionStates(database.db)).toEqual(["SENT", "SENT"]);
  expect(chain.sent).toHaveLength(1);
});

test("a failed look-up is repeated under the same head", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  const txHash = await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  mine(chain, txHash);
  chain.nonces.set(OPERATOR.address, 1n);
  const headsSeen = new Map<string, string>();
  await watch(chain, { headsSeen });
  chain.latest += 1n;
  chain.receipts.clear();
  chain.nonces.clear();
  const { receipts } = chain.provider;
  chain.provider.receipts = () => Promise.reject(new Error("no answer"));
  await expect(watch(chain, { headsSeen })).rejects.toThrow("no answer");
  chain.provider.receipts = receipts;
  await watch(chain, { headsSeen });
  expect(await transactionStates(database.db)).toEqual(["SENT"]);
});

test("a stuck transaction's fees are bumped with the market's tip", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, {
    nonce: 0n,
    fees: { maxFeeWei: 10_000n, priorityFeeWei: 1n },
  });
  chain.tipWei = 500n;
  await age(database.db, "1 hour");
  await watch(chain);
  expect(await newestFees()).toEqual({ max_fee_wei: 11_251n, priority_fee_wei: 500n });
});

test("times of sending and signing come from the database's clock", async () => {
  const chain = createChainDouble();
  await ingestOperations(database.db, [operationOf()]);
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  await watch(chain);
  const patient = { resendAfterMs: 60_000 };
  const clock = jest.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
  await watch(chain, patient);
  expect(chain.sent).toHaveLength(1);

  clock.mockReturnValue(0);
  await age(database.db, "61 seconds");
  await watch(chain, patient);
  expect(chain.sent).toHaveLength(3);
});

test("a nonce that no node accepts is used by a no-op, also after the highest fee was offered", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  const cap = depsOn(database.db, chain).feeCapWei;
  await signWaitingOperations(database.db, OPERATOR, {
    nonce: 0n,
    fees: { maxFeeWei: cap, priorityFeeWei: 1n },
  });
  chain.refusal = "oversized data";
  await watch(chain);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED batch_reverted"]);
  expect(await newestFees()).toEqual({ max_fee_wei: 2_001n, priority_fee_wei: 1n });

  chain.refusal = null;
  await watch(chain);
  expect(await transactionStates(database.db)).toEqual(["SENT"]);
});

function newestFees(): Promise<unknown> {
  return database.db.one(
    sql`select max_fee_wei, priority_fee_wei from transaction_versions order by created_at desc limit 1`,
  );
}

function mine(chain: ChainDouble, txHash: string): void {
  const [blockNumber, blockHash] = [1_050n, blockHashOf(1_050n)];
  chain.receipts.set(txHash, { blockNumber, blockHash, gasUsed: 1n, succeeded: true });
}

async function sayFinal(): Promise<void> {
  await database.db.run(sql`update transactions set state = 'FINAL'`);
}

async function watch(chain: ChainDouble, of: Partial<WatchDeps> = {}): Promise<void> {
  const lease = await acquireLease(database.db, OPERATOR.address, "this process", 60_000);
  await watchTransactions({ ...depsOn(database.db, chain), ...of }, lease!);
}
