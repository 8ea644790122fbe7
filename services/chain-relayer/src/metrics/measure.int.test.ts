import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { Registry } from "@wonrail/kit/metrics";
import { setQueuePause } from "../settlement/store/settlementQueues";
import { saveCursor } from "../indexer/store/scanCursor";
import { notePosted, saveWalletBlock } from "../settlement/store/walletBlocks";
import { recordMined } from "../sender/store/transactions";
import { encodeMintableToday, encodeMintAllowance } from "../evm/contracts";
import { createGauges } from "./gauges";
import { recordHeads } from "../settlement/commands/correctHeads";
import { measureChain, measureOperations } from "./measure";
import { createScheduledMetrics } from "../records/scheduledMetrics";
import { createX402Metrics } from "../x402";
import {
  blockHashOf,
  createChainDouble,
  depsOn,
  OPERATOR,
  PAYMENT_MANAGER,
  TOKEN,
} from "../testing/chainDouble";
import { freshDatabase } from "../testing/database";
import { signWaitingOperations, operationOf, ingestOperations } from "../testing/operations";

const database = freshDatabase();
let chain: ReturnType<typeof createChainDouble>;
let registry: Registry;
let lookInside: () => Promise<void>;
let look: (of?: { startBlock: bigint }) => Promise<Map<string, number>>;

beforeEach(() => {
  chain = createChainDouble();
  registry = new Registry();
  const deps = {
    ...depsOn(database.db, chain),
    gauges: createGauges(registry, Date.now),
    scheduled: createScheduledMetrics(registry),
    x402Metrics: createX402Metrics(registry, 50_000_000n),
  };
  lookInside = () => measureOperations(deps);
  look = async (of) => {
    await lookInside();
    await measureChain({ ...deps, ...of });
    const lines = [...(await registry.metrics()).matchAll(/^(\w+) (\S+)$/gm)];
    return new Map(lines.map(([, name, value]) => [name!, Number(value)]));
  };
});

test("the gas of payments by x402 counts in this day, of all organisations and of the one with the most", async () => {
  const gas = async () => {
    const seen = await look();
    return ["x402_gas_today", "x402_gas_today_most", "x402_gas_limit"].map((name) => seen.get(name));
  };
  expect(await gas()).toEqual([0, 0, 50_000_000]);
  const today = sql`(now() at time zone 'utc')::date`;
  await database.db.run(sql`
    insert into x402_gas (org_id, day, gas) values (${newId("org")}, ${today}, 69200), (${newId("org")}, ${today}, 200000),
      (${newId("org")}, ${today} - 1, 900000)`);
  expect(await gas()).toEqual([269_200, 200_000, 50_000_000]);
});

test("entries that are not pulled count as open with their age", async () => {
  const { db } = database;
  await tx(db, (tx) => recordHeads(tx, [{ orgId: newId("org"), sequence: 3n }]));
  await db.run(sql`update settlement_queues set behind_since = now() - interval '900 s'`);
  const seen = await look();
  expect(seen.get("relay_pending_oldest_seconds")).toBeGreaterThanOrEqual(900);
  expect(seen.get("relay_unmined_oldest_seconds")).toBeGreaterThanOrEqual(900);
  const open = await registry.getSingleMetric("relay_open_operations")!.get();
  expect(open.values.filter(({ value }) => value > 0)).toMatchObject([
    { labels: { state: "QUEUED", reason: "" }, value: 3 },
  ]);
});

test("a blocked operation is counted with its reason, and not as late", async () => {
  const { db } = database;
  await ingestOperations(db, [operationOf(newId("wal"), { blockedReason: "unreadable" })]);
  await db.run(sql`update operations set created_at = now() - interval '900 s'`);
  expect((await look()).get("relay_pending_oldest_seconds")).toBe(0);
  const open = await registry.getSingleMetric("relay_open_operations")!.get();
  expect(open.values).toMatchObject([
    { labels: { state: "BLOCKED", reason: "unreadable" }, value: 1 },
    { labels: { state: "BLOCKED", reason: "name_in_use" }, value: 0 },
    { labels: { state: "PLANNED", reason: "AccountBlocked" }, value: 0 },
  ]);
});

test("an operation of a blocked wallet is counted and not late, and the wallet's freeze is measured", async () => {
  const { db } = database;
  const operation = operationOf();
  await ingestOperations(db, [operation]);
  await db.run(sql`
    update operations set state = 'PLANNED', wait_reason = 'AccountBlocked', created_at = now() - interval '900 s'`);
  const walletId = operation.wallets[0]!;
  const place = { blockNumber: 7n, blockHash: "0x7", logIndex: 0, address: `0x${"5".repeat(40)}` };
  const block = { walletId, orgId: operation.orgId, blocked: true, ...place };
  await tx(db, (tx) => saveWalletBlock(tx, block));
  const before = await look();
  expect(before.get("relay_pending_oldest_seconds")).toBe(0);
  expect(before.get("relay_unmined_oldest_seconds")).toBe(0);
  expect([before.get("relay_blocked_wallets"), before.get("relay_unposted_wallet_blocks")]).toEqual([1, 1]);
  const open = await registry.getSingleMetric("relay_open_operations")!.get();
  expect(open.values).toContainEqual({ labels: { state: "PLANNED", reason: "AccountBlocked" }, value: 1 });
  await notePosted(db, block, null);
  expect((await look()).get("relay_unposted_wallet_blocks")).toBe(0);
});

test("an operation in a block waits for finality alone, and is not late", async () => {
  const { db } = database;
  const [first, second] = [operationOf(), operationOf()];
  await ingestOperations(db, [first]);
  await signWaitingOperations(db, OPERATOR, { nonce: 0n });
  await ingestOperations(db, [second]);
  await db.run(sql`
    update operations set created_at = now() - case when ledger_ref = ${first.ledgerRef} then interval '900 s' else interval '400 s' end`);
  const { transaction_id: transactionId } = await db.one<{ transaction_id: bigint }>(
    sql`select transaction_id from transactions`,
  );
  const ages = async () => {
    const seen = await look();
    return ["relay_unmined_oldest_seconds", "relay_pending_oldest_seconds"].map(
      (name) => Math.floor(seen.get(name)! / 100) * 100,
    );
  };

  expect(await ages()).toEqual([900, 900]);
  await recordMined(db, [transactionId], []);
  expect(await ages()).toEqual([400, 900]);
  await recordMined(db, [], [transactionId]);
  expect(await ages()).toEqual([900, 900]);
  await recordMined(db, [transactionId], []);
  await db.run(sql`delete from operations where ledger_ref = ${second.ledgerRef}`);
  expect(await ages()).toEqual([0, 900]);
});

test("a paused queue is measured separately, with its entries that are not pulled", async () => {
  const { db } = database;
  const [paused, other] = [newId("org"), newId("org")];
  const sent = operationOf(newId("wal"), { orgId: paused });
  await ingestOperations(db, [sent]);
  await signWaitingOperations(db, OPERATOR, { nonce: 0n });
  await ingestOperations(
    db,
    [paused, other].map((orgId) => operationOf(newId("wal"), { orgId })),
  );
  await tx(db, (tx) =>
    recordHeads(
      tx,
      [paused, other].map((orgId) => ({ orgId, sequence: 1n })),
    ),
  );
  const ofPaused = sql`org_id = ${paused}`;
  await db.run(sql`
    update operations set created_at = now() - case
      when state = 'IN_FLIGHT' then interval '500 s' when ${ofPaused} then interval '2000 s' else interval '400 s' end`);
  await db.run(
    sql`update settlement_queues set behind_since = now() - case when ${ofPaused} then interval '3000 s' else interval '300 s' end`,
  );
  const readGauges = async () => {
    const seen = await look();
    const ages = ["pending", "unmined", "paused"].map((what) => seen.get(`relay_${what}_oldest_seconds`)!);
    return [...ages.map((age) => Math.floor(age / 100) * 100), seen.get("relay_paused_queues")];
  };

  expect(await readGauges()).toEqual([3000, 3000, 0, 0]);
  await setQueuePause(db, paused, "asked to by the bank");
  // Sent operations continue.
  expect(await readGauges()).toEqual([500, 500, 3000, 1]);
  await db.run(sql`update transactions set state = 'MINED'`);
  expect(await readGauges()).toEqual([500, 400, 3000, 1]);
  await db.run(sql`update settlement_queues set cursor_sequence = head_sequence`);
  await db.run(sql`delete from operations where org_id = ${other} or state = 'IN_FLIGHT'`);
  expect(await readGauges()).toEqual([0, 0, 2000, 1]);
  await setQueuePause(db, paused, null);
  expect(await readGauges()).toEqual([2000, 2000, 0, 0]);
});

test("the scan's lag counts final blocks that are not ingested, apart from the lag of finality", async () => {
  const { db } = database;
  const behind = async () => (await look()).get("chain_scan_lag_seconds");
  const takenIn = (blockNumber: bigint) =>
    saveCursor(db, {
      blockNumber,
      blockHash: blockHashOf(blockNumber),
      blockTime: 2_000_000_000n + blockNumber,
    });
  await takenIn(1_000n);
  expect(await behind()).toBe(0);
  await takenIn(600n);
  expect(await behind()).toBe(400);
  // A lagging endpoint's answer may be older than the ingested block; another chain's is much
  // older.
  await takenIn(1_001n);
  expect(await behind()).toBe(1);
  await takenIn(1_400n);
  expect(await behind()).toBe(400);
});

test("a scan before its first block has no lag while none of our blocks is final", async () => {
  const behind = async (startBlock: bigint) => (await look({ startBlock })).get("chain_scan_lag_seconds");
  expect(await behind(1_001n)).toBe(0);
  expect(await behind(1_000n)).toBeGreaterThan(300);
});

test("gauges stay absent until the chain answers, so that an unknown balance is not read as 0", async () => {
  await lookInside();
  const text = await registry.metrics();
  const unknown = ["chain_head_block", "chain_confirmed_lag_blocks", "chain_scan_lag_seconds"];
  for (const name of [
    ...unknown,
    "hot_wallet_balance_wei",
    "nonce_gap",
    "mint_allowance_won",
    "mintable_today_won",
  ])
    expect(text).not.toMatch(new RegExp(`^${name} `, "m"));
  expect(text).toMatch(/^chain_head_age_seconds /m);
  expect((await look()).get("hot_wallet_balance_wei")).toBe(1e24);
});

test("the mint allowance is the payment manager's at the newest final block, and absent without contracts", async () => {
  const asked: unknown[][] = [];
  const askedOfToken = () => asked.filter(([contract]) => contract === TOKEN);
  chain.provider.callAt = async (...call) => {
    asked.push(call);
    return `0x${1_234_567_999_999n.toString(16).padStart(64, "0")}`;
  };
  expect((await look({ startBlock: 1_001n })).has("mint_allowance_won")).toBe(false);
  expect(askedOfToken()).toEqual([]);
  const seen = await look();
  expect([seen.get("mint_allowance_won"), seen.get("mintable_today_won")]).toEqual([1_234_567, 1_234_567]);
  expect(askedOfToken()).toEqual([
    [TOKEN, encodeMintAllowance(PAYMENT_MANAGER), 1_000n],
    [TOKEN, encodeMintableToday(), 1_000n],
  ]);
});
