import { join } from "node:path";
import { type Database, sql } from "@wonrail/kit/db";
import { createClient, type PromiseClient } from "@wonrail/kit/grpc/client";
import { implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/ids";
import { createRegistry } from "@wonrail/kit/metrics";
import {
  createTestDatabase,
  eventually,
  openTestDatabase,
  type TestDatabase,
  testLog,
} from "@wonrail/kit/testing";
import {
  type ExecuteRequest,
  type ExecuteResponse,
  PaymentServiceService,
  TransferStatus,
} from "@wonrail/proto/payment/v1/payment";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type TransactionRecord } from "../domain/record";
import { getRecord } from "../queries/getRecord";
import { FIRST_SENT_PLACE } from "../store/records";
import { createRecord } from "./createRecord";
import { finishScheduledRecords, type FinishRecordsDeps } from "./finishScheduledRecords";
import { runScheduledRecords, type RunRecordsDeps } from "./runScheduledRecords";
import { updateRecordSchedule } from "./updateRecordSchedule";
import { updateRecordStatus } from "./updateRecordStatus";

const NORMAL = "0x52908400098527886E0F7030069857D2E4169EE7";
const INCENTIVE = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
const OUTSIDE = "0xde709f2102306220921060314715629080e2fb77";
/** Longer than any test; where a lease is to end, the test ends it. */
const LEASE_MS = 60_000;
const registry = createRegistry({ service: "test", version: "0", commit: "0" });
const signal = new AbortController().signal;
const now = Date.now;
const chain = { network: "WON_TESTNET" };

let database: TestDatabase;
let db: Database;
let payment: PromiseClient<PaymentServiceService> & { close(): void };
const closers: (() => Promise<void> | void)[] = [];

/** Payment at our edge: does a transfer once for its key, and says what it was asked for. */
const asked = new Map<string, { request: ExecuteRequest; times: number; response: ExecuteResponse }>();
let refuse: ((request: ExecuteRequest) => ExecuteResponse["outcome"] | null) | undefined;

beforeAll(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../../migrations"),
  });
  db = openTestDatabase(database.url, "chain_relayer");
  closers.push(() => db.close());
  const service = implement(PaymentServiceService, {
    execute: (request) => Promise.resolve(executeOnce(request)),
  });
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: [service],
    log: testLog(),
    registry,
  });
  payment = createClient(PaymentServiceService, {
    name: "payment",
    address: `127.0.0.1:${server.port}`,
    log: testLog(),
    registry,
    defaultTimeoutMs: 20_000,
  });
  closers.push(
    () => payment.close(),
    () => server.drain(100),
  );
});
afterAll(async () => {
  for (const close of closers) await close();
  await database.drop();
});
beforeEach(() => {
  refuse = undefined;
});

test("three replicas, 200 due at once, one killed in the middle: 200 transfers, none twice", async () => {
  const orgId = newId("org");
  const records: TransactionRecord[] = [];
  while (records.length < 200)
    records.push(...(await Promise.all(Array.from({ length: 50 }, () => due(orgId)))));
  const killed = replica();
  let [begun, done] = [0, 0];
  killed.payment = {
    // Payment does half of it, and then the process is gone: nobody hears the answers, and the other half is never asked for.
    execute: async (request) => {
      begun += 1;
      if (begun > 50) return new Promise<never>(() => {});
      await payment.execute(request);
      done += 1;
      return new Promise<never>(() => {});
    },
  };
  void runScheduledRecords(killed, signal);
  await eventually(() => expect([begun, done]).toEqual([100, 50]), { timeoutMs: 20_000 });
  const ids = records.map(({ recordId }) => recordId);
  const timesAsked = () => ids.flatMap((id) => asked.get(id)?.times ?? []);
  const alive = [replica(), replica()];
  await Promise.all(alive.map((one) => runScheduledRecords(one, signal)));
  // The others do not wait for what it holds, nor take it away before its lease is over.
  expect(timesAsked()).toEqual(Array(150).fill(1));
  await makeDue(orgId);
  await Promise.all(alive.map((one) => runScheduledRecords(one, signal)));

  expect(timesAsked().sort()).toEqual([...Array<number>(150).fill(1), ...Array<number>(50).fill(2)]);
  for (const { recordId } of records) {
    const { record } = await getRecord(database, { orgId, recordId });
    expect(record).toMatchObject({ run: "SENT", transferId: transferOf(recordId) });
  }
}, 60_000);

test("a record that came due while nobody ran is executed after the start", async () => {
  const orgId = newId("org");
  const record = await due(orgId, { memo: "rent" });
  await runScheduledRecords(replica(), signal);
  const { request } = asked.get(record.recordId)!;
  expect(request).toMatchObject({
    context: { orgId },
    idempotencyKey: record.recordId,
    command: {
      value: { fromWalletId: WALLET, toWalletAddress: record.toAddress, amountWon: "3", memo: "rent" },
    },
  });
});

test("the outcome on the chain becomes the record's status and hash", async () => {
  const orgId = newId("org");
  const [good, bad, open] = [await due(orgId), await due(orgId), await due(orgId)];
  await runScheduledRecords(replica(), signal);
  await settle(orgId, transferOf(good.recordId)!, "CONFIRMED");
  await settle(orgId, transferOf(bad.recordId)!, "FAILED");
  await finishScheduledRecords(walker(), signal);
  expect(await read(good)).toMatchObject({
    status: "CONFIRMED",
    txHash: `0x${"11".repeat(32)}`,
    run: "DONE",
  });
  expect(await read(bad)).toMatchObject({ status: "FAILED", failureReason: "expired", txHash: null });
  expect(await read(open)).toMatchObject({ status: "PENDING", run: "SENT" });
  const { history } = await getRecord(database, good);
  expect(history.map(({ changedBy }) => changedBy)).toEqual(["api", "scheduler", "chain"]);
});

test("many that wait for the chain are left as they are, and one behind them is found", async () => {
  const orgId = newId("org");
  const first = await due(orgId);
  await runScheduledRecords(replica(), signal);
  // Sent at one time, and no operation of theirs has come yet.
  await database.db.run(sql`
    insert into records select (jsonb_populate_record(r, jsonb_build_object('record_id', record_id || '_' || n,
      'transfer_id', transfer_id || '_' || n))).*
    from records r, generate_series(1, 1999) as n where record_id = ${first.recordId}`);
  const last = await due(orgId);
  await runScheduledRecords(replica(), signal);
  await settle(orgId, transferOf(last.recordId)!, "CONFIRMED");
  const rows = () =>
    database.db.query<{ record_id: string; ctid: string }>(
      sql`select record_id, ctid::text from records where org_id = ${orgId} and run = 'SENT' order by record_id`,
    );
  const before = await rows();
  const one = walker();
  for (let rounds = 0; rounds < 4; rounds += 1) await finishScheduledRecords(one, signal);
  expect(await read(last)).toMatchObject({ status: "CONFIRMED", run: "DONE" });
  const left = before.filter(({ record_id: id }) => id !== last.recordId);
  expect([left.length, await rows()]).toEqual([2_000, left]);

  // From the beginning again.
  await settle(orgId, transferOf(first.recordId)!, "FAILED");
  for (let rounds = 0; rounds < 4; rounds += 1) await finishScheduledRecords(one, signal);
  expect(await read(first)).toMatchObject({ status: "FAILED", failureReason: "expired" });
  // The tests after this one look from the beginning.
  await database.db.run(
    sql`update records set run = 'UNATTENDED', run_at = null where org_id = ${orgId} and run = 'SENT'`,
  );
});

test("of two replicas that see the same outcomes one writes each down", async () => {
  const orgId = newId("org");
  const records = await Promise.all(Array.from({ length: 60 }, () => due(orgId)));
  await runScheduledRecords(replica(), signal);
  for (const { recordId } of records) await settle(orgId, transferOf(recordId)!, "CONFIRMED");
  await Promise.all([walker(), walker()].map((one) => finishScheduledRecords(one, signal)));
  for (const record of records) {
    const { history } = await getRecord(database, record);
    expect(history.map(({ changedBy }) => changedBy)).toEqual(["api", "scheduler", "chain"]);
  }
});

test("a refused transfer fails the record with the reason", async () => {
  refuse = () => ({ $case: "error", value: { code: "TRF_001" } });
  const record = await due(newId("org"));
  await runScheduledRecords(replica(), signal);
  const found = await read(record);
  expect(found.status).toBe("FAILED");
  expect(found.failureReason).toContain("TRF_001");
});

test("an unclear answer is asked again under the same key until it is clear", async () => {
  const record = await due(newId("org"));
  const unclear = replica();
  unclear.payment = {
    execute: async (request) => {
      await payment.execute(request);
      return { replayed: false, outcome: { $case: "error", value: { code: "SYS_003" } } };
    },
  };
  await runScheduledRecords(unclear, signal);
  expect(await read(record)).toMatchObject({ status: "PENDING", run: "STARTED" });
  await makeDue(record.orgId);
  await runScheduledRecords(replica(), signal);
  expect(await read(record)).toMatchObject({ run: "SENT", transferId: transferOf(record.recordId) });
});

test("what is not in whole KRW fails, and what is not from a NORMAL wallet is left to its owner", async () => {
  const orgId = newId("org");
  const fraction = await due(orgId, { amount: "1500000" });
  const incentive = await due(orgId, { fromAddress: INCENTIVE });
  const outside = await due(orgId, { fromAddress: OUTSIDE });
  await runScheduledRecords(replica(), signal);
  expect(await read(fraction)).toMatchObject({ status: "FAILED", failureReason: "amount_is_not_whole_won" });
  for (const record of [incentive, outside]) {
    expect(await read(record)).toMatchObject({ status: "PENDING", run: "UNATTENDED" });
    const change = { status: "CONFIRMED" as const, failureReason: undefined };
    await updateRecordStatus(apiDeps(), { orgId, recordId: record.recordId, ...change });
  }
  expect([fraction, incentive, outside].some(({ recordId }) => asked.has(recordId))).toBe(false);
});

test("of a schedule change and a start at the same moment exactly one happens", async () => {
  const orgId = newId("org");
  const records = await Promise.all(Array.from({ length: 60 }, () => due(orgId)));
  const later = new Date(now() + 3_600_000);
  const changes = records.map((record) =>
    updateRecordSchedule(apiDeps(), { orgId, recordId: record.recordId, scheduledAt: later }).then(
      () => "changed",
      (error: { code: string }) => error.code,
    ),
  );
  const [outcomes] = await Promise.all([Promise.all(changes), runScheduledRecords(replica(), signal)]);
  await runScheduledRecords(replica(), signal);
  for (const [index, { recordId }] of records.entries())
    expect([outcomes[index], asked.has(recordId)]).toEqual(
      outcomes[index] === "changed" ? ["changed", false] : ["TX_004", true],
    );
});

test("once it was started its owner can no longer say what became of it", async () => {
  const orgId = newId("org");
  const { recordId } = await due(orgId);
  await runScheduledRecords(replica(), signal);
  const change = { orgId, recordId, status: "FAILED" as const, failureReason: undefined };
  await expect(updateRecordStatus(apiDeps(), change)).rejects.toMatchObject({ code: "TX_003" });
});

const WALLET = newId("wal");

function executeOnce(request: ExecuteRequest): ExecuteResponse {
  const key = request.idempotencyKey!;
  const earlier = asked.get(key);
  if (earlier) {
    earlier.times += 1;
    expect(Buffer.from(earlier.request.bodyHash).equals(Buffer.from(request.bodyHash))).toBe(true);
    return { ...earlier.response, replayed: true };
  }
  const outcome = refuse?.(request) ?? { $case: "transfer", value: transferFor(request) };
  const response: ExecuteResponse = { replayed: false, outcome };
  asked.set(key, { request, times: 1, response });
  return response;
}

function transferFor({ command }: ExecuteRequest) {
  if (command?.$case !== "transfer") throw new Error("only transfers are scheduled");
  const { fromWalletId, toWalletAddress, amountWon } = command.value;
  const transferId = newId("trf");
  const transfer = { transferId, status: TransferStatus.COMPLETED, fromWalletId, toWalletAddress, amountWon };
  const unset = { toWalletId: undefined, memo: undefined, settlement: undefined, failureReason: undefined };
  return { ...transfer, ...unset, createdAt: new Date(), updatedAt: new Date() };
}

function transferOf(recordId: string): string | undefined {
  const outcome = asked.get(recordId)?.response.outcome;
  return outcome?.$case === "transfer" ? outcome.value.transferId : undefined;
}

function replica(): RunRecordsDeps {
  const db: Database = openTestDatabase(database.url, "chain_relayer", { max: 4 });
  closers.push(() => db.close());
  return { db, log: testLog(), payment, wallet: { findWalletsByAddress }, now, recordLeaseMs: LEASE_MS };
}

function walker(): FinishRecordsDeps {
  return { db, now, sentWalk: { after: FIRST_SENT_PLACE } };
}

/** The wallet service at our edge: two of the addresses are the organisation's. */
function findWalletsByAddress({ orgId }: { orgId: string }) {
  const of = { orgId, userId: "user" };
  return Promise.resolve({
    wallets: [
      { ...of, walletId: WALLET, walletType: WalletType.NORMAL, walletAddress: NORMAL },
      { ...of, walletId: newId("wal"), walletType: WalletType.INCENTIVE, walletAddress: INCENTIVE },
    ],
  });
}

function apiDeps() {
  return { db, chain, now };
}

/** Recorded when its time was still to come. */
async function due(orgId: string, change: Record<string, string> = {}): Promise<TransactionRecord> {
  const network = chain.network;
  const dueMs = now() - 5_000;
  const fields = {
    fromNetworkType: network,
    toNetworkType: network,
    fromAddress: NORMAL,
    toAddress: OUTSIDE,
    amount: "3000000",
    scheduledAt: new Date(dueMs),
    ...change,
  };
  const deps = { ...apiDeps(), now: () => dueMs - 5_000 };
  return (await createRecord(deps, { orgId, paymentType: "SCHEDULED", fields, key: null })).record;
}

/** As when a lease, or the pause before the next try, is over. */
async function makeDue(orgId: string): Promise<void> {
  await database.db.run(
    sql`update records set run_at = clock_timestamp() where org_id = ${orgId} and run = 'STARTED'`,
  );
}

async function read({ orgId, recordId }: TransactionRecord): Promise<TransactionRecord> {
  return (await getRecord(database, { orgId, recordId })).record;
}

/** As the settlement core leaves it. */
async function settle(orgId: string, ledgerRef: string, state: "CONFIRMED" | "FAILED"): Promise<void> {
  const id = newId("opn").slice(4).repeat(2);
  const hash = `0x${"11".repeat(32)}`;
  const failed = state === "FAILED";
  await database.db.run(sql`
    insert into operations (org_id, ledger_ref, related_id, kind, operation_id, steps, from_wallets, state, blocked, tx_hash, block_hash,
      failure_reason, proof_block_hash, request_id, traceparent)
    values (${orgId}, ${ledgerRef}, ${ledgerRef}, 'INTENT_KIND_TRANSFER', ${id}, '[]', '{}', ${state}, 0, ${failed ? null : hash},
      ${failed ? null : hash}, ${failed ? "expired" : null}, ${failed ? hash : null}, '', '')`);
}
