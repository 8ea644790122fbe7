import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { managerAbi, tokenAbi } from "../../evm/contracts";
import { saveDrifts } from "../../reconciliation/store/drifts";
import { type Step } from "../domain/steps";
import { type NewOperation, replanOperations } from "../store/operations";
import { acquireLease } from "../../sender/store/transactions";
import { saveWalletAddresses } from "../../indexer/store/walletAddresses";
import { dispatch, type DispatchDeps } from "./dispatch";
import { expireHolds } from "./expireHolds";
import { planOperations } from "./planOperations";
import { sendBatches } from "./sendBatches";
import {
  type ChainDouble,
  createChainDouble,
  cursorAt,
  depsOn,
  OPERATOR,
  PAYMENT_MANAGER,
} from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import {
  signWaitingOperations,
  holdOf,
  mints,
  operationOf,
  statesOf,
  ingestOperations,
  ingestExpiredHold,
} from "../../testing/operations";

const database = freshDatabase();

test("a late writer does not postpone operations that another has sent", async () => {
  const chain = createChainDouble();
  const [sent, planned] = [operationOf(), operationOf()];
  await ingestOperations(database.db, [sent]);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const deps = depsOn(database.db, chain);
  chain.baseFeeWei = deps.feeCapWei + 1n;
  const slow = {
    ...deps.provider,
    priorityFeeWei: async () => {
      await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
      await ingestOperations(database.db, [planned]);
      await planOperations(database.db, lease);
      return 1n;
    },
  };
  const most = { maxTransactions: 1, signal: new AbortController().signal };
  expect(await sendBatches({ ...deps, provider: slow }, lease, most)).toBe(0);
  expect(await statesOf(database.db, [sent, planned])).toEqual(["IN_FLIGHT", "PLANNED"]);
  expect(await sendBatches(deps, lease, most)).toBe(0);
  expect(await statesOf(database.db, [sent, planned])).toEqual(["IN_FLIGHT", "PLANNED fee_above_cap"]);
});

test("a drift found while a batch is signed stops operations that are in no transaction yet", async () => {
  const chain = createChainDouble();
  const [walletId, toAddress] = [newId("wal"), `0x${"5".repeat(40)}`];
  const payment = operationOf(walletId);
  const [step] = payment.steps;
  await ingestOperations(database.db, [{ ...payment, steps: [{ ...step!, toWalletId: null, toAddress }] }]);
  const { orgId } = payment;
  await saveWalletAddresses(database.db, [{ walletId, orgId, address: toAddress }]);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const found = {
    orgId,
    walletId,
    kind: "CHAIN",
    subject: "",
    expected: 1n,
    actual: 0n,
    blockNumber: 1n,
  } as const;
  const wallet = {
    signAuthorizations: async () => {
      await saveDrifts(database.db, [found]);
      return { signatures: [{ outcome: { $case: "signature", value: Buffer.alloc(65, 27) } }] };
    },
  } as never;
  const sending = sendBatches({ ...depsOn(database.db, chain), wallet }, lease, {
    maxTransactions: 1,
    signal: new AbortController().signal,
  });
  await expect(sending).rejects.toThrow("its wallet has a drift now");
  expect(chain.sent).toEqual([]);
  expect(await statesOf(database.db, [payment])).toEqual(["PLANNED"]);
});

test("a transaction stays below the cost that usual nodes accept while gas is expensive", async () => {
  const chain = createChainDouble();
  chain.baseFeeWei = 170n * GWEI;
  await ingestOperations(database.db, await mints(database.db, 100));
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const deps = { ...depsOn(database.db, chain), feeCapWei: 500n * GWEI };
  await sendBatches(deps, lease, { maxTransactions: 1, signal: new AbortController().signal });
  const { cost_wei: costWei, carried } = await database.db.one<{ cost_wei: bigint; carried: bigint }>(sql`
    select gas_limit * max_fee_wei as cost_wei, (select count(*) from operations where state = 'IN_FLIGHT') as carried
    from transactions join transaction_versions using (transaction_id)`);
  expect(costWei).toBeLessThanOrEqual(10n ** 18n);
  expect(carried).toBe(25n);
});

test("operations go in smaller transactions after nodes refused the cost", async () => {
  const chain = createChainDouble();
  const operations = await mints(database.db, 20);
  await ingestOperations(database.db, operations);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  await replanOperations(database.db, operations, "cost_too_high", 0);
  await sendBatches(depsOn(database.db, chain), lease, { maxTransactions: 1, signal: NEVER });
  const { gas } = await database.db.one<{ gas: bigint }>(sql`select gas_limit as gas from transactions`);
  // Five of the twenty, with 70,000 each.
  expect(gas).toBe(710_000n);
});

test("nonces that were used outside are skipped, and none is used twice when nodes forget them", async () => {
  const chain = createChainDouble();
  const deps = { ...depsOn(database.db, chain), maxSteps: 1 };
  await ingestOperations(database.db, await mints(database.db, 2));
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  for (const chainNonce of [7n, 5n]) {
    chain.nonces.set(OPERATOR.address, chainNonce);
    await sendBatches(deps, lease, { maxTransactions: 1, signal: NEVER });
  }
  const nonces = await database.db.query(sql`select nonce from transactions order by transaction_id`);
  expect(nonces).toEqual([{ nonce: 7n }, { nonce: 8n }]);
});

test("operations without room in their transaction go before everything behind them", async () => {
  const chain = createChainDouble();
  chain.baseFeeWei = 170n * GWEI;
  await ingestOperations(database.db, await mints(database.db, 80));
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const deps = { ...depsOn(database.db, chain), feeCapWei: 500n * GWEI, maxSteps: 40 };
  // The first transaction has room for twenty of forty.
  expect(await sendBatches(deps, lease, { maxTransactions: 2, signal: NEVER })).toBe(1);
  const [, ...sent] = await database.db.query(
    sql`select state, count(*) as count, max(turn) - min(turn) + 1 as turns from operations group by 1 order by 1 desc`,
  );
  expect(sent).toEqual([{ state: "IN_FLIGHT", count: 20n, turns: 20n }]);
});

describe("a signer with little gas", () => {
  const dear = (of: Partial<ChainDouble>) =>
    Object.assign(createChainDouble(), { baseFeeWei: 15n * GWEI, tipWei: GWEI, ...of });
  const send = async (chain: ChainDouble, { maxTransactions = 1, maxSteps = 200 } = {}) => {
    const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
    await planOperations(database.db, lease);
    const deps = { ...depsOn(database.db, chain), feeCapWei: 500n * GWEI, maxSteps };
    return sendBatches(deps, lease, { maxTransactions, signal: NEVER });
  };
  const stepsCarried = async () => {
    const rows = await database.db.query<{ steps: bigint }>(sql`
      select sum(jsonb_array_length(steps)) as steps from operations where transaction_id is not null
      group by transaction_id order by transaction_id`);
    return rows.map(({ steps }) => Number(steps));
  };

  test("sends an affordable batch, though not a full block", async () => {
    await ingestOperations(database.db, await mints(database.db, 1));
    // 430,000 gas at 31 gwei.
    expect(await send(dear({ balanceWei: 13_329_999_999_999_999n }))).toBe(0);
    await database.db.run(sql`update operations set retry_at = now()`);
    expect(await send(dear({ balanceWei: 13_330_000_000_000_000n }))).toBe(1);
  });

  test("sends the affordable part of a batch beside pending transactions, and the rest when they are mined", async () => {
    const operations = await mints(database.db, 40);
    await ingestOperations(database.db, operations);
    // Twenty take 1,760,000 gas, ten 1,060,000, each at 31 gwei.
    const chain = dear({ balanceWei: 31n * GWEI * (1_760_000n + 1_060_000n) });
    expect(await send(chain)).toBe(1);
    expect(await send(chain)).toBe(1);
    expect(await stepsCarried()).toEqual([20, 10]);
    expect(await send(chain)).toBe(0);
    const waiting = (await statesOf(database.db, operations)).filter((state) => state !== "IN_FLIGHT");
    expect(waiting).toEqual(Array(10).fill("PLANNED signer_out_of_gas"));
    chain.nonces.set(OPERATOR.address, 2n);
    await database.db.run(sql`update operations set retry_at = now()`);
    expect(await send(chain)).toBe(1);
    expect(await stepsCarried()).toEqual([20, 10, 10]);
  });

  test("sends no more at once than it can pay for, in any number of transactions", async () => {
    await ingestOperations(database.db, await mints(database.db, 4));
    // Two take 500,000 gas, one 430,000, each at 31 gwei.
    const chain = dear({ balanceWei: 31n * GWEI * 999_999n });
    expect(await send(chain, { maxTransactions: 2, maxSteps: 2 })).toBe(2);
    expect(await stepsCarried()).toEqual([2, 1]);
  });

  test("postpones an operation that is too expensive alone, and sends the others", async () => {
    const [long, short] = await mints(database.db, 2);
    const [step] = long!.steps;
    await ingestOperations(database.db, [{ ...long!, steps: Array(8).fill(step) }, short!]);
    expect(await send(dear({ balanceWei: 31n * GWEI * 600_000n }))).toBe(1);
    expect(await statesOf(database.db, [long!, short!])).toEqual(["PLANNED signer_out_of_gas", "IN_FLIGHT"]);
  });
});

describe("operations refused for a shared reason", () => {
  const [noRole, paused] = ["AccessControlUnauthorizedAccount", "EnforcedPause"];
  const wait = ({ ledgerRef }: NewOperation, reason: string) =>
    database.db.run(sql`update operations set wait_reason = ${reason} where ledger_ref = ${ledgerRef}`);
  const errorOf = (name: string) =>
    tokenAbi.encodeErrorResult(name, name === noRole ? [PAYMENT_MANAGER, ZERO] : []);
  const send = (chain: ChainDouble) =>
    dispatch({ ...depsOn(database.db, chain), wallet: custodyWithout("nobody").wallet }, NEVER);

  test("waits while a call shows the refusal again; others go, also those of another reason", async () => {
    const chain = createChainDouble();
    const made = await mints(database.db, 5);
    // The first two are of seven KRW, which is how the chain knows them here.
    const seven = ({ steps, ...of }: NewOperation) => ({
      ...of,
      steps: steps.map((step) => ({ ...step, amountWon: 7n as Step["amountWon"] })),
    });
    const operations = made.map((one, place) => (place < 2 ? seven(one) : one));
    await ingestOperations(database.db, operations);
    const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
    await planOperations(database.db, lease);
    const [first, second, third, fourth] = operations;
    await Promise.all([
      wait(first!, noRole),
      wait(second!, noRole),
      wait(third!, paused),
      wait(fourth!, "AccountBlocked"),
    ]);
    const asked: string[] = [];
    chain.refusedCall = (data) => {
      asked.push(data);
      return data.startsWith(TAKE_ALL) && data.includes(SEVEN_WON) ? errorOf(noRole) : null;
    };
    await send(chain);
    const waits = `PLANNED ${noRole}`;
    expect(await statesOf(database.db, operations)).toEqual([waits, waits, ...Array(3).fill("IN_FLIGHT")]);
    // Two questions for each reason: may the operator settle, and would the steps be done?
    expect(asked).toHaveLength(4);
    const { seconds } = await database.db.one<{ seconds: number }>(sql`
      select extract(epoch from retry_at - updated_at)::float8 as seconds from operations where ledger_ref = ${first!.ledgerRef}`);
    expect(seconds).toBe(15);
  });

  test("goes when the refusal is its own, and when the nodes' answer is unreadable", async () => {
    const chain = createChainDouble();
    const operations = await mints(database.db, 2);
    await ingestOperations(database.db, operations);
    const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
    await planOperations(database.db, lease);
    await Promise.all([wait(operations[0]!, paused), wait(operations[1]!, "batch_reverted")]);
    const blocked = tokenAbi.encodeErrorResult("AccountBlocked", [PAYMENT_MANAGER]);
    chain.refusedCall = (data) => (data.startsWith(TAKE_ALL) ? blocked : "out of something");
    await send(chain);
    expect(await statesOf(database.db, operations)).toEqual(["IN_FLIGHT", "IN_FLIGHT"]);
  });
});

test("most of each transaction stays for others although many operations are refused repeatedly", async () => {
  const chain = createChainDouble();
  const refused = await mints(database.db, 60);
  await ingestOperations(database.db, refused);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const comesBack = () =>
    database.db.run(sql`
      update operations set state = 'PLANNED', attempts = 1, wait_reason = 'MintAllowanceExceeded', retry_at = now()
      where ledger_ref = any(${refused.map(({ ledgerRef }) => ledgerRef)}::text[])`);
  const others = await mints(database.db, 32);
  await ingestOperations(database.db, others);
  await planOperations(database.db, lease);
  for (let sent = 1; sent <= 4; sent += 1) {
    await comesBack();
    await sendBatches({ ...depsOn(database.db, chain), maxSteps: 12 }, lease, {
      maxTransactions: 1,
      signal: NEVER,
    });
    const states = await statesOf(database.db, others);
    expect(states.filter((state) => state === "IN_FLIGHT")).toHaveLength(Math.min(sent * 9, 32));
  }
});

describe("while custody refuses one organisation", () => {
  const [broken, other] = [newId("org"), newId("org")];
  const of = (orgId: string, count: number) =>
    Array.from({ length: count }, () => operationOf(undefined, { orgId }));
  const countOf = async (orgId: string, state: string) =>
    (await database.db.query(sql`select from operations where org_id = ${orgId} and state = ${state}`))
      .length;
  /** Makes all waiting operations due. */
  const passTime = () => database.db.run(sql`update operations set retry_at = now() where state = 'PLANNED'`);
  const round = (custody: ReturnType<typeof custodyWithout>, of: Partial<DispatchDeps> = {}) =>
    dispatch({ ...depsOn(database.db, createChainDouble()), wallet: custody.wallet, ...of }, NEVER);

  test("the others' operations fill the transactions, however many of its own are retried", async () => {
    const custody = custodyWithout(broken);
    const [maxSteps, refused] = [10, of(broken, 300)];
    await ingestOperations(database.db, refused);
    // Each is refused for the first time.
    for (let batch = 0; batch < 30; batch += 1) await round(custody, { maxSteps, maxInFlight: 1 });
    expect(await countOf(broken, "PLANNED")).toBe(300);
    await ingestOperations(database.db, of(other, 30));
    for (let sent = 1; sent <= 3; sent += 1) {
      await passTime();
      await round(custody, { maxSteps, maxInFlight: sent });
      expect(await countOf(other, "IN_FLIGHT")).toBe(sent * 10);
    }
    custody.refused.clear();
    await passTime();
    await round(custody, { maxSteps: 100, maxInFlight: 16 });
    expect(await countOf(broken, "IN_FLIGHT")).toBe(300);
  });

  test("no more of its queue is planned until the cause is resolved", async () => {
    const custody = custodyWithout(broken);
    await ingestOperations(database.db, of(broken, 1_000));
    await round(custody);
    await ingestOperations(database.db, [...of(broken, 50), ...of(other, 5)]);
    await round(custody);
    expect(await countOf(broken, "PLANNED")).toBe(1_000);
    expect(await countOf(broken, "WAITING")).toBe(50);
    expect(await countOf(other, "IN_FLIGHT")).toBe(5);
    custody.refused.clear();
    for (let rounds = 0; rounds < 2; rounds += 1) {
      await passTime();
      await round(custody);
    }
    expect(await countOf(broken, "IN_FLIGHT")).toBe(1_050);
  });

  test("its holds never fail, however long the key is away", async () => {
    const hold = holdOf({ orgId: broken });
    await ingestExpiredHold(database.db, hold, { reason: "custody_key_unavailable" });
    await cursorAt(database.db, 1_000n, 4_000_000_000n);
    await expireHolds(depsOn(database.db, createChainDouble()), NEVER);
    expect(await statesOf(database.db, [hold])).toEqual(["PLANNED custody_key_unavailable"]);
  });
});

const GWEI = 1_000_000_000n;
const TAKE_ALL = managerAbi.getFunction("takeAll")!.selector;
const ZERO = `0x${"0".repeat(64)}`;
const SEVEN_WON = 7_000_000n.toString(16).padStart(64, "0");
const NEVER = new AbortController().signal;

/** Custody that signs for every organisation except this one. */
function custodyWithout(orgId: string) {
  const refused = new Set([orgId]);
  const noKey = { code: "SYS_004", detailsJson: JSON.stringify({ reason: "key_unavailable" }) };
  const wallet = {
    getWalletFacts: async ({ walletIds }: { walletIds: string[] }) => ({
      wallets: walletIds.map((walletId) => ({ walletId, walletAddress: addressOf(walletId) })),
    }),
    signAuthorizations: async ({ intents }: { intents: { orgId: string }[] }) => ({
      signatures: intents.map((intent) => ({
        outcome: refused.has(intent.orgId)
          ? { $case: "error", value: noKey }
          : { $case: "signature", value: Buffer.alloc(65, 27) },
      })),
    }),
  } as never;
  return { refused, wallet };
}

/** Another for each wallet. */
function addressOf(walletId: string): string {
  return `0x${Buffer.from(walletId.slice(-20)).toString("hex")}`;
}
