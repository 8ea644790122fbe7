import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { id } from "ethers";
import { tokenAbi, TOPICS } from "../../evm/contracts";
import { type ChainLog, type LogFilter } from "../../evm/logs";
import { RpcRefusal, RpcUnanswered } from "../../evm/rpc";
import { acknowledgeDrifts, listDrifts } from "../../reconciliation/store/drifts";
import { type NewOperation } from "../../settlement/store/operations";
import { findCursor } from "../store/scanCursor";
import { saveWalletAddresses, type WalletAddress } from "../store/walletAddresses";
import { won } from "@wonrail/kit/contract/money";
import { operationIdOf, stepsOf } from "../../settlement/domain/steps";
import { acquireLease } from "../../sender/store/transactions";
import { planOperations } from "../../settlement/commands/planOperations";
import { listStuckOperations } from "../../settlement/store/operationDetails";
import { listPlannedOperations } from "../../settlement/store/plannedOperations";
import { scanFinalized } from "./scanFinalized";
import {
  blockHashOf,
  type ChainDouble,
  createChainDouble,
  cursorAt,
  depsOn,
  OPERATOR,
  TOKEN,
} from "../../testing/chainDouble";
import { consumeFacts } from "../../facts";
import { entryOf, journalsOf, type LineOf } from "../../testing/journal";
import { executionOf, repetitionOf } from "../../testing/executions";
import { freshDatabase, untilSomebodyWaits } from "../../testing/database";
import {
  signWaitingOperations,
  mints,
  operationOf,
  statesOf,
  ingestOperations,
  transactionStates,
} from "../../testing/operations";

const database = freshDatabase();

test("a lagging scan continues although the nodes have pruned its blocks' states", async () => {
  const chain = createChainDouble();
  const { operation, txHash } = await sendOne(chain);
  chain.receipts.set(txHash, {
    ...{ blockNumber: 600n, blockHash: blockHashOf(600n) },
    ...{ gasUsed: 50_000n, succeeded: false },
  });

  await cursorAt(database.db, 500n);
  const deps = depsOn(database.db, chain);
  await scanFinalized(deps);
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 508n });
  // Mined outside of the ingested blocks.
  expect(await transactionStates(database.db)).toEqual(["SIGNED"]);
  while (await scanFinalized(deps));
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 1_000n });
  expect(await transactionStates(database.db)).toEqual(["FINAL"]);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED batch_reverted"]);
});

test("an unordered mint stops all outflow until an operator acknowledges it", async () => {
  const { db } = database;
  const [leaving, charge] = [operationOf(), ...(await mints(db, 1))];
  await ingestOperations(db, [leaving, charge!]);
  await planOperations(db, (await acquireLease(db, OPERATOR.address, "this process", 60_000))!);
  const [stranger] = await mints(db, 1);
  const chain = createChainDouble();
  chain.logs = await executionOf(db, stranger!, 995n);
  await cursorAt(db, 990n);
  while (await scanFinalized(depsOn(db, chain)));
  const drifts = await listDrifts(db, { all: false, limit: 10 });
  expect(drifts.map(({ kind, actual }) => [kind, actual])).toContainEqual(["UNEXPLAINED_MINT", 1_000_000n]);
  const next = async () => (await listPlannedOperations(db, 10)).map(({ ledgerRef }) => ledgerRef);
  expect(await next()).toEqual([charge!.ledgerRef]);
  const stuck = await listStuckOperations(db, {
    olderThanSeconds: 0,
    orgId: null,
    isUndecided: false,
    limit: 10,
  });
  expect(stuck.find(({ ledgerRef }) => ledgerRef === leaving.ledgerRef)?.waitReason).toBe("unexplained_mint");
  for (const { driftId } of drifts) await acknowledgeDrifts(db, { driftId }, "operator");
  expect((await next()).sort()).toEqual([leaving.ledgerRef, charge!.ledgerRef].sort());
});

test("START_BLOCK may be raised while no block holds an event of ours", async () => {
  const chain = createChainDouble();
  await cursorAt(database.db, 10n);
  const deps = { ...depsOn(database.db, chain), startBlock: 900n };
  await scanFinalized(deps);
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 907n });

  const { operation, txHash } = await sendOne(chain);
  chain.logs = await executionOf(database.db, operation, 910n, { txHash });
  await scanFinalized(deps);
  expect(await statesOf(database.db, [operation])).toEqual(["CONFIRMED"]);
  await scanFinalized({ ...deps, startBlock: 990n });
  expect((await findCursor(database.db))!.blockNumber).toBeLessThan(990n);
});

test("the journals are pulled when the chain executed an unknown operation, as after a restore", async () => {
  const { db } = database;
  const chain = createChainDouble();
  await cursorAt(db, 1_000n);
  const [orgId, walletId] = [newId("org"), newId("wal")];
  const lines: LineOf[] = [
    [walletId, 5n, 1n],
    ["acc_issuance", -5n, 1_000n],
  ];
  const done = entryOf(1n, newId("chg"), ...lines);
  const later = entryOf(2n, newId("chg"), [newId("wal"), 7n, 1n]);
  const given = lines.map(([accountId, amountWon, sequence]) => ({
    accountId,
    amountWon: won(amountWon),
    sequence,
  }));
  const [operationId, steps] = [operationIdOf(given), stepsOf(given)];
  chain.logs = await executionOf(db, { ...operationOf(), orgId, operationId, steps }, 1_001n);
  chain.final = 1_001n;
  const ledger = journalsOf(new Map([[orgId, [done, later]]]));
  const deps = { ...depsOn(db, chain), ledger };
  await scanFinalized({ ...deps, consume: consumeFacts(deps) });
  const rows = await db.query(sql`select ledger_ref, state from operations order by state`);
  expect(rows).toEqual([
    { ledger_ref: done.requestId, state: "CONFIRMED" },
    { ledger_ref: later.requestId, state: "WAITING" },
  ]);
  expect(await listDrifts(db, { all: true, limit: 10 })).toEqual([]);
});

test("a changed hash of the last ingested block is noticed although no new block is final", async () => {
  const chain = createChainDouble();
  await cursorAt(database.db, 1_000n);
  const deps = depsOn(database.db, chain);
  expect(await scanFinalized(deps)).toBe(false);
  chain.replacedFrom = 1_000n;
  await expect(scanFinalized(deps)).rejects.toThrow("was final as");
});

test("blocks of another branch are not ingested", async () => {
  const chain = createChainDouble();
  await cursorAt(database.db, 900n);
  const { block } = chain.provider;
  chain.provider.block = async (number) => {
    const found = await block(number);
    if (number === 900n) chain.replacedFrom = 900n;
    return found;
  };
  await expect(scanFinalized(depsOn(database.db, chain))).rejects.toThrow("was final as");
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 900n });
});

test("a slower replica does not overwrite a cursor that moved", async () => {
  const chain = createChainDouble();
  await cursorAt(database.db, 900n);
  const { logs } = chain.provider;
  chain.provider.logs = async (filter) => {
    await cursorAt(database.db, 700n);
    return logs(filter);
  };
  await scanFinalized(depsOn(database.db, chain));
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 700n });
});

test("a replica that starts beside a faster one does not reset the cursor to its own first block", async () => {
  const chain = createChainDouble();
  const scanning = await tx(database.db, async (tx) => {
    await cursorAt(tx, 500n);
    const slower = scanFinalized(depsOn(database.db, chain));
    await untilSomebodyWaits(database.db);
    return { slower };
  });
  await scanning.slower;
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 500n });
});

test("a receipt of a removed block finishes nothing", async () => {
  const chain = createChainDouble();
  const { operation, txHash } = await sendOne(chain);
  const receipt = { blockNumber: 999n, blockHash: `0x${"dead".repeat(16)}`, gasUsed: 1n, succeeded: true };
  chain.receipts.set(txHash, receipt);
  await cursorAt(database.db, 995n);
  await scanFinalized(depsOn(database.db, chain));
  expect(await transactionStates(database.db)).toEqual(["SIGNED"]);
  expect(await statesOf(database.db, [operation])).toEqual(["IN_FLIGHT"]);

  // In a later block of the chain that there is; looked at with the next run of blocks.
  chain.receipts.set(txHash, { ...receipt, blockNumber: 1_000n, blockHash: blockHashOf(1_000n) });
  chain.final = 1_001n;
  await scanFinalized(depsOn(database.db, chain));
  expect(await transactionStates(database.db)).toEqual(["FINAL"]);
});

test("few receipts are requested for transactions mined after the scanned blocks", async () => {
  const chain = createChainDouble();
  chain.nonces.set(OPERATOR.address, 40n);
  const hashes: string[] = [];
  for (let nonce = 0n; nonce < 40n; nonce += 1n) {
    await ingestOperations(database.db, [operationOf()]);
    const txHash = await signWaitingOperations(database.db, OPERATOR, { nonce });
    const blockNumber = 991n + nonce;
    const receipt = { blockNumber, blockHash: blockHashOf(blockNumber), gasUsed: 1n, succeeded: true };
    hashes.push(txHash);
    chain.receipts.set(txHash, receipt);
  }
  await cursorAt(database.db, 990n);
  const deps = depsOn(database.db, chain);
  await scanFinalized(deps);
  expect(await finalCount()).toBe(8);
  expect(chain.looked).toEqual(hashes.slice(0, 16));

  chain.looked = [];
  await scanFinalized(deps);
  expect(await finalCount()).toBe(10);
  expect(chain.looked).toEqual(hashes.slice(8, 16));
  chain.final = 1_030n;
  while (await scanFinalized(deps));
  expect(await finalCount()).toBe(40);
});

test.each([
  ["refuse to look", new RpcRefusal(-32005, "block range is too wide")],
  ["give no answer when they are to look", new RpcUnanswered("too late, or too much")],
])(
  "what settled a repeated operation is found although endpoints %s through many blocks",
  async (_, tooMuch) => {
    const chain = createChainDouble();
    chain.tooMuch = tooMuch;
    const [early, late] = [operationOf(), operationOf()];
    await ingestOperations(database.db, [early, late]);
    chain.mostBlocks = 100n;
    chain.logs = [
      ...(await executionOf(database.db, early, 120n)),
      ...(await executionOf(database.db, late, 930n)),
      repetitionOf(early, 950n),
      repetitionOf(late, 950n),
    ];
    await cursorAt(database.db, 945n);
    await scanFinalized(depsOn(database.db, chain));
    expect(await statesOf(database.db, [early, late])).toEqual(["CONFIRMED", "CONFIRMED"]);
    const blocks = await database.db.query(sql`select block_number from operations order by block_number`);
    expect(blocks).toEqual([{ block_number: 120n }, { block_number: 930n }]);
  },
);

test("a stopping process abandons the search for a repeated operation's settlement, and ingests nothing", async () => {
  const chain = createChainDouble();
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  chain.mostBlocks = 100n;
  chain.logs = [...(await executionOf(database.db, operation, 120n)), repetitionOf(operation, 950n)];
  await cursorAt(database.db, 945n);
  const [stop, ending] = [new AbortController(), new Error("it is to end")];
  let asked = 0;
  const logs = (filter: LogFilter) => {
    if ((asked += 1) === 5) stop.abort(ending);
    return chain.provider.logs(filter);
  };
  const deps = { ...depsOn(database.db, chain), provider: { ...chain.provider, logs } };
  await expect(scanFinalized({ ...deps, signal: stop.signal })).rejects.toBe(ending);
  expect(asked).toBe(5);
  while (await scanFinalized(deps));
  expect(await statesOf(database.db, [operation])).toEqual(["CONFIRMED"]);
});

test("logs of unrelated addresses are not requested, even from full blocks", async () => {
  const chain = createChainDouble();
  const [approval, blockHash] = [id("Approval(address,address,uint256)"), blockHashOf(950n)];
  const settled = operationOf();
  await ingestOperations(database.db, [settled]);
  chain.logs = await executionOf(database.db, settled, 950n);
  const place = { data: "0x", blockNumber: 950n, blockHash, txHash: "0x1", logIndex: 900 };
  chain.logs.push({ address: TOKEN, topics: [approval], ...place });
  const given: ChainLog[] = [];
  const logs = async (filter: LogFilter) => {
    const found = await chain.provider.logs(filter);
    given.push(...found);
    return found;
  };
  await cursorAt(database.db, 945n);
  const deps = depsOn(database.db, chain);
  await scanFinalized({ ...deps, provider: { ...chain.provider, logs } });
  expect(await statesOf(database.db, [settled])).toEqual(["CONFIRMED"]);
  expect(given.map(({ topics }) => topics[0])).toEqual([TOPICS.transfer, TOPICS.executed]);
});

test("a transaction's gas is divided between the operations that it executed", async () => {
  const chain = createChainDouble();
  const carried = [operationOf(), operationOf(), operationOf()];
  await ingestOperations(database.db, carried);
  const [txHash, blockHash] = [`0x${"7".repeat(64)}`, blockHashOf(950n)];
  chain.receipts.set(txHash, { blockNumber: 950n, blockHash, gasUsed: 300_000n, succeeded: true });
  for (const one of carried)
    chain.logs.push(
      ...(await executionOf(database.db, one, 950n, { txHash, firstIndex: chain.logs.length })),
    );
  await cursorAt(database.db, 945n);
  await scanFinalized(depsOn(database.db, chain));
  const shares = await database.db.query(sql`select gas_used from operations where state = 'CONFIRMED'`);
  expect(shares).toEqual(Array(3).fill({ gas_used: 100_000n }));
});

test("an unknown operation of our payment manager is a drift, and a known one is not", async () => {
  const chain = createChainDouble();
  const [ours, unknown] = [operationOf(), operationOf()];
  await ingestOperations(database.db, [ours]);
  for (const one of [ours, unknown]) chain.logs.push(...(await executionOf(database.db, one, 950n)));
  await cursorAt(database.db, 945n);
  await scanFinalized(depsOn(database.db, chain));
  const found = await listDrifts(database.db, { all: true, limit: 10 });
  expect(found.map(({ kind, subject }) => [kind, subject])).toEqual([
    ["UNKNOWN_OPERATION", unknown.operationId],
  ]);
});

test("transfers between our wallets are no deposits, and a transfer to oneself changes no balance", async () => {
  const chain = createChainDouble();
  const [payer, payee] = [walletAt("a"), walletAt("b")];
  await saveWalletAddresses(database.db, [payer, payee]);
  chain.logs = [
    transferOf(outside, payer.address, 9n, 0),
    transferOf(payer.address, payee.address, 2n, 1),
    transferOf(payer.address, payer.address, 5n, 2),
    transferOf(payer.address, outside, 1n, 3),
    transferOf(outside, payee.address, 0n, 4),
  ];
  await cursorAt(database.db, 945n);
  await scanFinalized(depsOn(database.db, chain));
  const units = await database.db.query(
    sql`select account_id, org_id, units from settled_balances order by units desc`,
  );
  expect(units).toEqual([
    { account_id: payer.walletId, org_id: payer.orgId, units: 6n },
    { account_id: payee.walletId, org_id: payee.orgId, units: 2n },
  ]);
  expect(await database.db.query(sql`select wallet_id, units from deposits`)).toEqual([
    { wallet_id: payer.walletId, units: 9n },
  ]);
});

test("a scan is postponed when an endpoint goes away, without smaller and smaller ranges", async () => {
  const chain = createChainDouble();
  chain.logs = [repetitionOf(operationOf(), 950n)];
  const silent = new RpcUnanswered("silent");
  const { logs } = chain.provider;
  let [isAway, lookups] = [false, 0];
  chain.provider.logs = async (filter) => {
    if (!filter.topics) return logs(filter);
    [isAway, lookups] = [true, lookups + 1];
    throw silent;
  };
  chain.provider.block = async (number) => {
    if (isAway) throw silent;
    return { ...(await chain.provider.latestBlock()), number, hash: blockHashOf(number) };
  };
  await cursorAt(database.db, 945n);
  await expect(scanFinalized(depsOn(database.db, chain))).rejects.toThrow("silent");
  expect(lookups).toBe(1);
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 945n });
});

/** An operation in a transaction with a used nonce. */
async function sendOne(chain: ChainDouble): Promise<{ operation: NewOperation; txHash: string }> {
  const operation = operationOf();
  await ingestOperations(database.db, [operation]);
  const txHash = await signWaitingOperations(database.db, OPERATOR, { nonce: 0n });
  chain.nonces.set(OPERATOR.address, 1n);
  return { operation, txHash };
}

const outside = `0x${"c".repeat(40)}`;

function walletAt(digit: string): WalletAddress {
  return { walletId: newId("wal"), orgId: newId("org"), address: `0x${digit.repeat(40)}` };
}

function transferOf(from: string, to: string, units: bigint, logIndex: number): ChainLog {
  const { data, topics } = tokenAbi.encodeEventLog("Transfer", [from, to, units]);
  const place = { blockNumber: 950n, blockHash: blockHashOf(950n), txHash: "0x8", logIndex };
  return { address: TOKEN, topics, data, ...place };
}

async function finalCount(): Promise<number> {
  return (await transactionStates(database.db)).filter((state) => state === "FINAL").length;
}
