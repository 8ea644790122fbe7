import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Database, sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { type Block, type TransferReceipt } from "../../evm/provider";
import { RpcRefusal, RpcUnanswered } from "../../evm/rpc";
import { type TransactionRecord } from "../domain/record";
import { getRecord } from "../queries/getRecord";
import { createRecord } from "./createRecord";
import { TOKEN } from "../../testing/chainDouble";
import { depsForRecords } from "../../testing/schedules";
import { updateRecordStatus } from "./updateRecordStatus";
import { watchInstantRecords, type WatchRecordsDeps } from "./watchInstantRecords";

const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";
const RECEIVER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
const chain = { network: "WON_TESTNET" };
const signal = new AbortController().signal;
/** The clock is fixed, because ages are compared by the second. */
const nowMs = Date.now();
const now = () => nowMs;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../../../migrations"),
  });
  db = openTestDatabase(database.url, "chain_relayer");
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

test("a hash without receipt stays PENDING, and notes it once after a minute, until a final block holds it", async () => {
  const node = nodeAt(10n);
  const young = await instant(59_000);
  const old = await instant(61_000);
  await look(node, young, old);
  await look(node, young, old);
  expect(await read(young)).toMatchObject({ status: "PENDING", history: [{ changedBy: "api" }] });
  expect(await read(old)).toMatchObject({
    status: "PENDING",
    failureReason: null,
    history: [{ reason: null }, { status: "PENDING", reason: "not_seen_on_chain", changedBy: "chain" }],
  });

  node.receipts.set(old.txHash!, receiptIn(10n));
  await look(node, old);
  expect(await read(old)).toMatchObject({ status: "CONFIRMED" });
  expect((await read(old)).history.map(({ changedBy }) => changedBy)).toEqual(["api", "chain", "chain"]);
});

test("a record stays pending while its block is not final or was removed by a reorganisation", async () => {
  const node = nodeAt(10n);
  const record = await instant();
  node.receipts.set(record.txHash!, receiptIn(11n));
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "PENDING" });

  // The chain has another block 11 now, and this node still answers from the old one.
  node.finalNumber = 12n;
  node.receipts.set(record.txHash!, { ...receiptIn(11n), blockHash: "0xgone" });
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "PENDING" });

  // Mined again, and reverted this time.
  node.receipts.set(record.txHash!, { ...receiptIn(12n), succeeded: false });
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "FAILED", failureReason: "reverted" });
});

test("a status set by the owner during a look-up stays the only change", async () => {
  const node = nodeAt(10n);
  const record = await instant();
  node.receipts.set(record.txHash!, receiptIn(10n));
  const { orgId, recordId } = record;
  const failed = { orgId, recordId, status: "FAILED" as const, failureReason: "called off" };
  node.beforeAnswer = async () => {
    await updateRecordStatus({ db: database.db, chain, now }, failed);
  };
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "FAILED", failureReason: "called off" });
  expect((await read(record)).history.map(({ changedBy }) => changedBy)).toEqual(["api", "api"]);
});

test("one of four replicas looks up each hash", async () => {
  const node = nodeAt(10n);
  const records = await instants(250);
  for (const { txHash } of records) node.receipts.set(txHash!, receiptIn(10n));
  await Promise.all(Array.from({ length: 4 }, () => watchInstantRecords(depsAt(node), signal)));
  const hashes = records.map(({ txHash }) => txHash!);
  expect(node.asked.filter((hash) => hashes.includes(hash)).sort()).toEqual(hashes.sort());
  for (const record of records) expect(await read(record)).toMatchObject({ status: "CONFIRMED" });
});

test("receipts that become final during the run are confirmed in the same run", async () => {
  await putOffAll();
  const node = nodeAt(10n);
  const records = await instants(150);
  for (const { txHash } of records) node.receipts.set(txHash!, receiptIn(11n));
  node.beforeAnswer = async () => void (node.finalNumber = 11n);
  await watchInstantRecords(depsAt(node), signal);
  const found = await Promise.all(records.map(read));
  expect(found.filter(({ status }) => status === "CONFIRMED")).toHaveLength(50);
});

test.each([
  ["a young one after a second", 1_000, 1],
  ["an older one after a tenth of its age", 300_000, 30],
  ["one that was seen after days after a minute", 3 * 86_400_000, 60],
])("mined records are looked up again before finality: %s", async (_, ageMs, seconds) => {
  const node = nodeAt(10n);
  const record = await instant(ageMs);
  node.receipts.set(record.txHash!, receiptIn(11n));
  await look(node, record);
  const { again } = await database.db.one<{ again: number }>(sql`
    select extract(epoch from run_at - clock_timestamp())::float8 as again from records where record_id = ${record.recordId}`);
  expect(again).toBeLessThanOrEqual(seconds);
  expect(again).toBeGreaterThan(seconds - 5);
});

test("a run looks up about 200 hashes of one organisation, and all of the others", async () => {
  await putOffAll();
  const node = nodeAt(10n);
  const { recordId } = await instant();
  await database.db.run(sql`
    insert into records select (jsonb_populate_record(r, jsonb_build_object('record_id', record_id || '_' || n,
      'tx_hash', '0x' || lpad(to_hex(n), 64, '0')))).*
    from records r, generate_series(1, 999) as n where record_id = ${recordId}`);
  const other = await instant();
  await watchInstantRecords(depsAt(node), signal);
  expect(node.asked).toContain(other.txHash);
  expect(new Set(node.asked).size).toBeLessThanOrEqual(300);
  for (let runs = 0; runs < 6; runs += 1) await watchInstantRecords(depsAt(node), signal);
  expect(new Set(node.asked).size).toBe(1_001);
});

test.each([
  ["fromAddress", { from: RECEIVER.toLowerCase() }],
  ["toAddress", { to: ADDRESS.toLowerCase() }],
  ["amount", { units: 999_999n }],
])("a record is FAILED with a reason when its %s differs from the transaction's", async (field, change) => {
  const node = nodeAt(10n);
  const record = await instant();
  const receipt = receiptIn(10n);
  node.receipts.set(record.txHash!, { ...receipt, transfers: [{ ...receipt.transfers[0]!, ...change }] });
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "FAILED", failureReason: `${field}_differs` });
});

test("a record is FAILED when the transaction moves coins or another token", async () => {
  const node = nodeAt(10n);
  const record = await instant();
  node.receipts.set(record.txHash!, { ...receiptIn(10n), transfers: [] });
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "FAILED", failureReason: "token_differs" });
});

test("a record is confirmed by one of several transfers of its transaction", async () => {
  const node = nodeAt(10n);
  const record = await instant();
  const receipt = receiptIn(10n);
  const others = [{ ...receipt.transfers[0]!, units: 5n }];
  node.receipts.set(record.txHash!, { ...receipt, transfers: [...others, ...receipt.transfers] });
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "CONFIRMED", failureReason: null });
});

test("a hash without receipt for 30 days is not looked up again, and its owner may set the status", async () => {
  const node = nodeAt(10n);
  const record = await instant(30 * 86_400_000);
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "PENDING", run: "UNATTENDED" });
  expect((await read(record)).history.at(-1)).toMatchObject({ reason: "not_seen_within_30_days" });
  const { orgId, recordId } = record;
  const confirmed = { orgId, recordId, status: "CONFIRMED" as const, failureReason: undefined };
  expect(await updateRecordStatus({ db: database.db, chain, now }, confirmed)).toMatchObject({
    status: "CONFIRMED",
  });
});

test.each([
  ["refuse", new RpcRefusal(-32000, "not that one")],
  [
    "answer at excessive length",
    new RpcUnanswered("not that one: the answer is larger than what is accepted"),
  ],
])("a hash that nodes %s delays no other", async (_, refusal) => {
  await putOffAll();
  const node = { ...nodeAt(10n), refusal };
  const [refused, ...others] = await instants(50);
  node.refused = refused!.txHash!;
  for (const { txHash } of others) node.receipts.set(txHash!, receiptIn(10n));
  await expect(watchInstantRecords(depsAt(node), signal)).rejects.toThrow("not that one");
  expect(await read(refused!)).toMatchObject({ status: "PENDING" });
  for (const record of others) expect(await read(record)).toMatchObject({ status: "CONFIRMED" });
});

/** A fake node with the test's content. */
interface FakeNode {
  finalNumber: bigint;
  receipts: Map<string, TransferReceipt>;
  asked: string[];
  beforeAnswer?: () => Promise<void>;
  /** A hash whose question the node refuses, together with others in the same batch. */
  refused?: string;
  refusal?: Error;
}

function nodeAt(finalNumber: bigint): FakeNode {
  return { finalNumber, receipts: new Map(), asked: [] };
}

function depsAt(node: FakeNode): WatchRecordsDeps {
  return {
    db,
    now,
    lookMs: 60_000,
    chain: { tokenAddress: TOKEN },
    provider: {
      finalBlock: () => Promise.resolve(blockAt(node.finalNumber)),
      block: (number) => Promise.resolve(blockAt(number)),
      transferReceipts: async (hashes) => {
        node.asked.push(...hashes);
        await node.beforeAnswer?.();
        if (hashes.some((txHash) => txHash === node.refused)) throw node.refusal!;
        return new Map([...node.receipts].filter(([txHash]) => hashes.includes(txHash)));
      },
    },
  };
}

function blockAt(number: bigint): Block {
  const hash = `0xblock${number}`;
  return { number, hash, parentHash: "", time: number, baseFeeWei: 0n, gasLimit: 30_000_000n };
}

/** A receipt with the transfer of every record here. */
function receiptIn(blockNumber: bigint): TransferReceipt {
  const transfers = [{ from: ADDRESS.toLowerCase(), to: RECEIVER.toLowerCase(), units: 1_000_000n }];
  const place = { blockNumber, blockHash: blockAt(blockNumber).hash };
  return { ...place, gasUsed: 21_000n, succeeded: true, transfers };
}

/** Looks now, whenever the records' next look would be. */
async function look(node: FakeNode, ...records: TransactionRecord[]): Promise<void> {
  await database.db.run(
    sql`update records set run_at = now() where run = 'WATCHED' and record_id = any(${records.map(({ recordId }) => recordId)})`,
  );
  await watchInstantRecords(depsAt(node), signal);
}

/** Recorded some time ago. */
async function instant(ageMs = 0, orgId = newId("org")): Promise<TransactionRecord> {
  const fields = {
    fromNetworkType: chain.network,
    toNetworkType: chain.network,
    fromAddress: ADDRESS,
    toAddress: RECEIVER,
    amount: "1000000",
    txHash: `0x${randomBytes(32).toString("hex")}`,
  };
  const deps = { ...depsForRecords(db), now: () => nowMs - ageMs };
  const wanted = { orgId, paymentType: "INSTANT" as const, fields, key: null };
  return (await createRecord(deps, wanted)).record;
}

async function instants(count: number): Promise<TransactionRecord[]> {
  const records: TransactionRecord[] = [];
  while (records.length < count)
    records.push(...(await Promise.all(Array.from({ length: 50 }, () => instant()))));
  return records;
}

/** Postpones the records of earlier tests. */
async function putOffAll(): Promise<void> {
  await database.db.run(sql`update records set run_at = now() + interval '1 hour' where run = 'WATCHED'`);
}

async function read({ orgId, recordId }: TransactionRecord) {
  const { record, history } = await getRecord(database, { orgId, recordId });
  return { ...record, history };
}
