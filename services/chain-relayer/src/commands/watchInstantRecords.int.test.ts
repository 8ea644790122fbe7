import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Database, sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { type Block, type Receipt } from "../chain/provider";
import { type TransactionRecord } from "../domain/record";
import { getRecord } from "../queries/getRecord";
import { createRecord } from "./createRecord";
import { updateRecordStatus } from "./updateRecordStatus";
import { watchInstantRecords, type WatchRecordsDeps } from "./watchInstantRecords";

const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";
const chain = { network: "WON_TESTNET" };
const signal = new AbortController().signal;
/** Ages are told to the second, so the clock stands still. */
const nowMs = Date.now();
const now = () => nowMs;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../../migrations"),
  });
  db = openTestDatabase(database.url, "chain_relayer");
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

test("a hash that nobody has seen for a minute stays PENDING and says so once, until it is in a final block", async () => {
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

test("nothing is concluded from a block that is not final, nor from one that a reorganisation took away", async () => {
  const node = nodeAt(10n);
  const record = await instant();
  node.receipts.set(record.txHash!, receiptIn(11n));
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "PENDING" });

  // The chain has another block 11 now, and this node still answers from the one that is gone.
  node.finalNumber = 12n;
  node.receipts.set(record.txHash!, { ...receiptIn(11n), blockHash: "0xgone" });
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "PENDING" });

  // Mined again, after something that made it fail.
  node.receipts.set(record.txHash!, { ...receiptIn(12n), succeeded: false });
  await look(node, record);
  expect(await read(record)).toMatchObject({ status: "FAILED", failureReason: "reverted" });
});

test("the owner's word that comes while the chain is asked stays, and is the only change", async () => {
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

test("of four replicas one looks a hash up", async () => {
  const node = nodeAt(10n);
  const records: TransactionRecord[] = [];
  while (records.length < 250)
    records.push(...(await Promise.all(Array.from({ length: 50 }, () => instant()))));
  for (const { txHash } of records) node.receipts.set(txHash!, receiptIn(10n));
  await Promise.all(Array.from({ length: 4 }, () => watchInstantRecords(depsAt(node), signal)));
  const hashes = records.map(({ txHash }) => txHash!);
  expect(node.asked.filter((hash) => hashes.includes(hash)).sort()).toEqual(hashes.sort());
  for (const record of records) expect(await read(record)).toMatchObject({ status: "CONFIRMED" });
});

/** A node at our edge: what is in it is what the test says. */
interface FakeNode {
  finalNumber: bigint;
  receipts: Map<string, Receipt>;
  asked: string[];
  beforeAnswer?: () => Promise<void>;
}

function nodeAt(finalNumber: bigint): FakeNode {
  return { finalNumber, receipts: new Map(), asked: [] };
}

function depsAt(node: FakeNode): WatchRecordsDeps {
  return {
    db,
    now,
    lookMs: 60_000,
    provider: {
      finalBlock: () => Promise.resolve(blockAt(node.finalNumber)),
      block: (number) => Promise.resolve(blockAt(number)),
      receipt: async (txHash) => {
        node.asked.push(txHash);
        await node.beforeAnswer?.();
        return node.receipts.get(txHash) ?? null;
      },
    },
  };
}

function blockAt(number: bigint): Block {
  const hash = `0xblock${number}`;
  return { number, hash, parentHash: "", time: number, baseFeeWei: 0n, gasLimit: 30_000_000n };
}

function receiptIn(blockNumber: bigint): Receipt {
  return { blockNumber, blockHash: blockAt(blockNumber).hash, gasUsed: 21_000n, succeeded: true };
}

/** Looks now, whenever the records' next look would be. */
async function look(node: FakeNode, ...records: TransactionRecord[]): Promise<void> {
  await database.db.run(
    sql`update records set run_at = now() where run = 'WATCHED' and record_id = any(${records.map(({ recordId }) => recordId)})`,
  );
  await watchInstantRecords(depsAt(node), signal);
}

/** Recorded some time ago. */
async function instant(ageMs = 0): Promise<TransactionRecord> {
  const fields = {
    fromNetworkType: chain.network,
    toNetworkType: chain.network,
    fromAddress: ADDRESS,
    toAddress: ADDRESS,
    amount: "1000000",
    txHash: `0x${randomBytes(32).toString("hex")}`,
  };
  const deps = { db, chain, now: () => nowMs - ageMs };
  const wanted = { orgId: newId("org"), paymentType: "INSTANT" as const, fields, key: null };
  return (await createRecord(deps, wanted)).record;
}

async function read({ orgId, recordId }: TransactionRecord) {
  const { record, history } = await getRecord(database, { orgId, recordId });
  return { ...record, history };
}
