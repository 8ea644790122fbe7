// Costs of replacements: usual nodes refuse a cost above one ether, and a cost that the sender
// cannot pay.
import { sql } from "@wonrail/kit/db";
import { Transaction } from "ethers";
import { type NewOperation } from "../../settlement/store/operations";
import { acquireLease } from "../store/transactions";
import {
  type ChainDouble,
  createChainDouble,
  depsOn,
  OPERATOR,
  PAYMENT_MANAGER,
} from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import {
  age,
  signWaitingOperations,
  operationOf,
  statesOf,
  ingestOperations,
  transactionStates,
} from "../../testing/operations";
import { type WatchDeps, watchTransactions } from "./watchTransactions";

const database = freshDatabase();

const GWEI = 1_000_000_000n;
const ETHER = 10n ** 18n;
const FEE_CAP = { costWei: ETHER, refusal: "tx fee (1.13 ether) exceeds the configured cap (1.00 ether)" };
const NO_FUNDS = "insufficient funds for gas * price + value";
/** At 50 gwei this costs one ether. */
const GAS_LIMIT = 20_000_000n;

test("a stuck transaction's fees are bumped up to one ether and then waits unchanged", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  const operation = await send({ maxFeeWei: 41n * GWEI });
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await age(database.db, "1 hour");
    await watch(chain);
  }
  expect(await costs()).toEqual([820_000_000_000_000_000n, 922_500_000_020_000_000n]);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);
});

test("a large transaction below the market price is replaced with a no-op for smaller ones", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  const operation = await send({ maxFeeWei: 50n * GWEI });
  await watch(chain);
  chain.baseFeeWei = 52n * GWEI;
  await age(database.db, "1 hour");
  await watch(chain);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED fee_above_cap"]);
  const { to, data, gasLimit, maxFeePerGas } = Transaction.from(chain.sent.at(-1));
  expect({ to, data, gasLimit }).toEqual({ to: OPERATOR.address, data: "0x", gasLimit: 21_000n });
  expect(maxFeePerGas).toBeGreaterThan(56n * GWEI);
});

test("a no-op uses the estimated gas on a chain that charges for data", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  chain.noopGas = 400_000n;
  await send({ maxFeeWei: 50n * GWEI });
  await watch(chain);
  chain.baseFeeWei = 52n * GWEI;
  await age(database.db, "1 hour");
  await watch(chain);
  const noop = () => Transaction.from(chain.sent.at(-1));
  expect(noop()).toMatchObject({ to: OPERATOR.address, data: "0x", gasLimit: 500_000n });
  // Recognised as a no-op although its gas is not 21,000: its fees are bumped,
  // and no other no-op replaces it.
  chain.baseFeeWei = 60n * GWEI;
  await age(database.db, "1 hour");
  await watch(chain);
  expect(noop()).toMatchObject({ data: "0x", gasLimit: 500_000n });
});

test("a transaction whose tip is below the market's is replaced with a no-op, whatever its total offer", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  const operation = await send({ maxFeeWei: 50n * GWEI });
  await watch(chain);
  chain.tipWei = 5n * GWEI;
  await age(database.db, "1 hour");
  await watch(chain);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED fee_above_cap"]);
  expect(Transaction.from(chain.sent.at(-1))).toMatchObject({
    gasLimit: 21_000n,
    maxPriorityFeePerGas: 5n * GWEI,
  });
});

test("a stuck transaction waits unchanged while even a no-op exceeds the fee cap", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  const operation = await send({ maxFeeWei: 50n * GWEI });
  chain.baseFeeWei = 501n * GWEI;
  await age(database.db, "1 hour");
  await watch(chain);
  expect(await costs()).toHaveLength(1);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);
});

test("an earlier writer's replacement above the cost limit does not displace the accepted transaction", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  const operation = await send({ maxFeeWei: 50n * GWEI });
  await watch(chain);
  await replaceWith({ maxFeeWei: 57n * GWEI });
  await age(database.db, "1 hour");
  const [first] = chain.sent.splice(0);
  await watch(chain);
  expect(chain.sent).toEqual([first]);
  expect(await costs()).toHaveLength(2);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);

  chain.baseFeeWei = 52n * GWEI;
  await age(database.db, "1 hour");
  await watch(chain);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED cost_too_high"]);
  expect(Transaction.from(chain.sent.at(-1)).gasLimit).toBe(21_000n);
});

test("the newest replacement that nodes accept is sent again", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  await send({ maxFeeWei: 40n * GWEI });
  for (const gwei of [45n, 51n, 58n, 66n]) await replaceWith({ maxFeeWei: gwei * GWEI });
  await watch(chain);
  expect(chain.sent.map((raw) => Transaction.from(raw).maxFeePerGas)).toEqual([45n * GWEI]);
});

test("a replacement that nodes refuse with an unknown message keeps its fees", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  const operation = await send({ maxFeeWei: 30n * GWEI });
  await watch(chain);
  chain.dearest = { costWei: (ETHER * 6n) / 10n, refusal: "no, thank you" };
  const [first] = chain.sent.splice(0);
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await age(database.db, "1 hour");
    await watch(chain);
  }
  expect(await costs()).toHaveLength(2);
  expect(chain.sent).toEqual([first, first, first]);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);
});

test("a first offer that nodes refuse as too expensive is replaced with a no-op, and its operations go again", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  chain.dearest = { ...FEE_CAP, costWei: ETHER / 2n };
  const operation = await send({ maxFeeWei: 50n * GWEI });
  await watch(chain);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED cost_too_high"]);
  await watch(chain);
  await watch(chain);
  expect(chain.sent.map((raw) => Transaction.from(raw).gasLimit)).toEqual([21_000n, 21_000n, 21_000n]);
  expect(await transactionStates(database.db)).toEqual(["SENT"]);
});

test("the next round sends a no-op that was stored just before the writer failed", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  chain.dearest = { ...FEE_CAP, costWei: ETHER / 2n };
  const operation = await send({ maxFeeWei: 50n * GWEI });
  const { priorityFeeWei } = chain.provider;
  let asked = 0;
  chain.provider.priorityFeeWei = () => {
    asked += 1;
    return asked === 2 ? Promise.reject(new Error("no endpoint answers")) : priorityFeeWei();
  };
  await watch(chain).catch(() => undefined);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED cost_too_high"]);
  expect(await costs()).toHaveLength(1);
  await watch(chain);
  expect(Transaction.from(chain.sent.at(-1)).gasLimit).toBe(21_000n);
  expect(await costs()).toHaveLength(2);
});

test("a transaction without funds keeps its fees", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI, refusal: NO_FUNDS });
  await send({ maxFeeWei: 30n * GWEI });
  await age(database.db, "1 hour");
  await watch(chain);
  await watch(chain);
  expect(await costs()).toHaveLength(1);
});

test("the earlier transaction is sent again when the replacement lacks funds", async () => {
  const chain = chainAt({ baseFeeWei: 20n * GWEI });
  const operation = await send({ maxFeeWei: 30n * GWEI });
  await watch(chain);
  chain.dearest = { costWei: (ETHER * 6n) / 10n, refusal: NO_FUNDS };
  await age(database.db, "1 hour");
  await watch(chain);
  expect(await costs()).toHaveLength(2);

  await age(database.db, "1 hour");
  const [first] = chain.sent.splice(0);
  await watch(chain);
  expect(chain.sent).toEqual([first]);
  expect(await costs()).toHaveLength(2);
  chain.dearest = null;
  await watch(chain);
  expect(Transaction.from(chain.sent.at(-1)).maxFeePerGas).toBeGreaterThan(30n * GWEI);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);
});

test("a transaction's fees are bumped at most once per block", async () => {
  const chain = chainAt({ baseFeeWei: 10n * GWEI });
  await send({ maxFeeWei: 21n * GWEI });
  const headsBumped = new Map<bigint, string>();
  const versions: number[] = [];
  for (const newBlocks of [0n, 0n, 0n, 1n, 0n]) {
    chain.latest += newBlocks;
    await age(database.db, "1 hour");
    await watch(chain, { headsBumped });
    versions.push((await costs()).length);
  }
  expect(versions).toEqual([2, 2, 2, 3, 3]);
});

test("a stuck transaction is resent and its fees are bumped, newest last, after the database's clock was set back", async () => {
  const chain = chainAt({ baseFeeWei: 10n * GWEI });
  await send({ maxFeeWei: 21n * GWEI });
  const patient = { resendAfterMs: 60_000 };
  await watch(chain, patient);
  await age(database.db, "-1 hour");
  await watch(chain, patient);
  expect(chain.sent).toHaveLength(3);
  const offers = await costs();
  expect(offers).toHaveLength(2);
  expect(offers[1]).toBeGreaterThan(offers[0]!);
});

function chainAt(of: Partial<ChainDouble>): ChainDouble {
  return Object.assign(createChainDouble(), { tipWei: GWEI, dearest: FEE_CAP }, of);
}

/** An operation in a large signed transaction that no node has. */
async function send({ maxFeeWei }: { maxFeeWei: bigint }): Promise<NewOperation> {
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  const fees = { maxFeeWei, priorityFeeWei: GWEI };
  await signWaitingOperations(database.db, OPERATOR, { nonce: 0n, gasLimit: GAS_LIMIT, fees });
  return operation;
}

async function replaceWith({ maxFeeWei }: { maxFeeWei: bigint }): Promise<void> {
  const fees = { maxFeeWei, priorityFeeWei: 2n * GWEI };
  const call = { to: PAYMENT_MANAGER, data: Buffer.from("00", "hex"), gasLimit: GAS_LIMIT };
  const signed = OPERATOR.sign({ chainId: 31_337n, nonce: 0n, ...call, ...fees });
  const { id } = await database.db.one<{ id: bigint }>(sql`select transaction_id as id from transactions`);
  await database.db.run(sql`
    insert into transaction_versions (tx_hash, transaction_id, raw, max_fee_wei, priority_fee_wei)
    values (${signed.txHash}, ${id}, ${signed.raw}, ${maxFeeWei}, ${fees.priorityFeeWei})`);
}

/** Costs of all versions, oldest first. */
async function costs(): Promise<bigint[]> {
  const rows = await database.db.query<{ cost: bigint }>(sql`
    select gas_limit * max_fee_wei as cost from transactions join transaction_versions v using (transaction_id)
    order by v.created_at`);
  return rows.map(({ cost }) => cost);
}

async function watch(chain: ChainDouble, of: Partial<WatchDeps> = {}): Promise<void> {
  const lease = await acquireLease(database.db, OPERATOR.address, "this process", 60_000);
  const deps = { ...depsOn(database.db, chain), feeCapWei: 500n * GWEI, ...of };
  await watchTransactions(deps, lease!);
}
