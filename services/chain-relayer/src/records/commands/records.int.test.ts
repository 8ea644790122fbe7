import { createHash } from "node:crypto";
import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { isId, newId } from "@wonrail/kit/contract/ids";
import { readPage as read } from "@wonrail/kit/page";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { RecordChanged } from "@wonrail/proto/relayer/events/v1/events";
import { type PaymentType, type TransactionRecord } from "../domain/record";
import { getRecord } from "../queries/getRecord";
import { listRecords, type RecordQuery } from "../queries/listRecords";
import { createRecord, type CreateRecordDeps, type RecordRequest } from "./createRecord";
import { depsForRecords } from "../../testing/schedules";
import { recordMessage } from "../messages";
import { updateRecordMetadata } from "./updateRecordMetadata";
import { updateRecordSchedule } from "./updateRecordSchedule";
import { updateRecordStatus } from "./updateRecordStatus";

const ALICE = "0x52908400098527886E0F7030069857D2E4169EE7";
const BOB = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
const CAROL = "0xde709f2102306220921060314715629080e2fb77";

let database: TestDatabase;
let deps: CreateRecordDeps;
let clock = Date.parse("2026-03-01T00:00:00Z");

beforeAll(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../../../migrations"),
  });
  deps = { ...depsForRecords(database.db), now: () => (clock += 1) };
});
afterAll(() => database.drop());

test("50 concurrent submissions of one hash create one record, and the others name it", async () => {
  const orgId = newId("org");
  const hash = `0x${"ab".repeat(32)}`;
  const tries = Array.from({ length: 50 }, (_, index) =>
    record(orgId, { txHash: index % 2 ? hash : hash.toUpperCase().replace("0X", "0x") }),
  );
  const settled = await Promise.allSettled(tries);
  const made = settled.filter((one) => one.status === "fulfilled");
  expect(made).toHaveLength(1);
  for (const one of settled) {
    if (one.status === "rejected")
      expect(one.reason).toMatchObject({ code: "TX_002", details: { id: made[0]!.value.recordId } });
  }
});

test("a hash may be recorded again by another organisation and for another network", async () => {
  const txHash = `0x${"cd".repeat(32)}`;
  const orgId = newId("org");
  await record(orgId, { txHash });
  await record(newId("org"), { txHash });
  await record(orgId, { txHash, fromNetworkType: "BASE_SEPOLIA" });
  await expect(record(orgId, { txHash })).rejects.toMatchObject({ code: "TX_002" });
});

test("a repeated hash names its own record, and not a scheduled record in the same transaction", async () => {
  const txHash = `0x${"ef".repeat(32)}`;
  const orgId = newId("org");
  for (const due of [scheduledAt(), scheduledAt()]) await record(orgId, {}, due);
  await database.db.run(sql`update records set tx_hash = ${txHash} where org_id = ${orgId}`);
  const { recordId } = await record(orgId, { txHash });
  const refused = { code: "TX_002", details: { id: recordId } };
  await expect(record(orgId, { txHash })).rejects.toMatchObject(refused);
});

describe("under an idempotency key", () => {
  const hashOf = (text: string) => createHash("sha256").update(text).digest();
  const keyed = (one: RecordRequest, idempotencyKey = "order-7", body = "the same") =>
    createRecord(deps, { ...one, key: { idempotencyKey, bodyHash: hashOf(body) } });

  test("20 concurrent requests create one record of either kind", async () => {
    for (const due of [scheduledAt(), undefined]) {
      const one = wanted(newId("org"), {}, due);
      const answers = await Promise.all(Array.from({ length: 20 }, () => keyed(one)));
      expect(new Set(answers.map(({ record }) => record.recordId)).size).toBe(1);
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect((await list(one.orgId, {})).items).toHaveLength(1);
    }
  });

  test("with repeatOnly creates no record and replays an existing one", async () => {
    const one = wanted(newId("org"), {}, scheduledAt());
    const repeat = () => keyed({ ...one, repeatOnly: true });
    await expect(repeat()).rejects.toMatchObject({ code: "WAUTH_004" });
    const { record } = await keyed(one);
    expect(await repeat()).toEqual({ record, replayed: true });
  });

  test("a replay returns the record as it was created, whatever happened since", async () => {
    const due = new Date(clock + 2_000);
    const one = wanted(newId("org"), {}, due);
    const { record: made } = await keyed(one);
    const key = { orgId: one.orgId, recordId: made.recordId };
    await updateRecordSchedule(deps, { ...key, scheduledAt: scheduledAt() });
    await updateRecordStatus(deps, { ...key, status: "FAILED", failureReason: "called off" });
    clock += 3_000;
    const again = await keyed(one);
    expect(again).toEqual({ record: { ...made, run: "DONE" }, replayed: true });
  });

  test("another request under the key is refused, and another organisation's key is separate", async () => {
    const one = wanted(newId("org"), {}, scheduledAt());
    await keyed(one);
    await expect(keyed(one, "order-7", "different")).rejects.toMatchObject({ code: "REQ_003" });
    expect((await keyed({ ...one, orgId: newId("org") })).replayed).toBe(false);
    expect((await keyed(one, "order-8")).replayed).toBe(false);
  });

  test("a recorded hash is refused under another key", async () => {
    const one = wanted(newId("org"), {});
    const { record: made } = await keyed(one);
    const refused = { code: "TX_002", details: { id: made.recordId } };
    await expect(keyed(one, "order-8")).rejects.toMatchObject(refused);
    await expect(createRecord(deps, one)).rejects.toMatchObject(refused);
    expect((await keyed(one)).record.recordId).toBe(made.recordId);
  });
});

test("amounts of 78 digits keep every digit", async () => {
  const orgId = newId("org");
  const amount = "9".repeat(78);
  const { recordId } = await record(orgId, { amount, fee: amount });
  const { record: found } = await getRecord(deps, { orgId, recordId });
  expect(found.amount.toString()).toBe(amount);
  expect(found.fee?.toString()).toBe(amount);
});

test("every change is in the history and an event, in order", async () => {
  const orgId = newId("org");
  const { recordId } = await record(orgId, {}, scheduledAt());
  const key = { orgId, recordId };
  await updateRecordSchedule(deps, { ...key, scheduledAt: scheduledAt() });
  const status = { status: "FAILED" as const, failureReason: "called off" };
  await updateRecordStatus(deps, { ...key, ...status });
  await updateRecordStatus(deps, { ...key, ...status });
  const { record: found, history } = await getRecord(deps, key);
  expect(found).toMatchObject({ status: "FAILED", failureReason: "called off", version: 3n, run: "DONE" });
  expect(history).toMatchObject([
    { status: "PENDING", changedBy: "api" },
    { status: "PENDING", scheduledAt: found.scheduledAt },
    { status: "FAILED", reason: "called off" },
  ]);
  const events = await database.db.query<{ version: bigint; payload: Buffer }>(
    sql`select version, payload from outbox where aggregate_id = ${recordId} and type = 'record_changed' order by id`,
  );
  expect(events.map(({ version }) => version)).toEqual([1n, 2n, 3n]);
  expect(RecordChanged.decode(events[2]!.payload).record).toMatchObject({
    id: recordId,
    failureReason: "called off",
    history: [{ changedBy: "api" }],
  });
});

test("a new time for another network's record starts nothing here", async () => {
  const orgId = newId("org");
  const elsewhere = { fromNetworkType: "BASE_SEPOLIA", toNetworkType: "BASE_SEPOLIA" };
  const { recordId } = await record(orgId, elsewhere, scheduledAt());
  const due = scheduledAt();
  const changed = await updateRecordSchedule(deps, { orgId, recordId, scheduledAt: due });
  expect(changed).toMatchObject({ scheduledAt: due, run: "UNATTENDED" });
});

test("a clock that steps back does not reorder the history", async () => {
  const orgId = newId("org");
  const { recordId } = await record(orgId, {}, scheduledAt());
  const behind = { ...deps, now: () => clock - 60_000 };
  await updateRecordSchedule(behind, { orgId, recordId, scheduledAt: scheduledAt() });
  const { history } = await getRecord(deps, { orgId, recordId });
  expect(history[1]!.changedAt).toEqual(history[0]!.changedAt);
});

test("a long history shows its newest 100 changes, and the first version stays known", async () => {
  const due = scheduledAt();
  const one = { ...wanted(newId("org"), {}, due), key: { idempotencyKey: "k", bodyHash: Buffer.from("b") } };
  const { record: made } = await createRecord(deps, one);
  const key = { orgId: one.orgId, recordId: made.recordId };
  for (let change = 1; change <= 120; change += 1)
    await updateRecordSchedule(deps, { ...key, scheduledAt: new Date(due.getTime() + change) });
  const { history } = await getRecord(deps, key);
  expect(history.map(({ version }) => version)).toEqual(
    Array.from({ length: 100 }, (_, index) => BigInt(22 + index)),
  );
  expect((await createRecord(deps, one)).record.scheduledAt).toEqual(due);
});

test("a final status never changes, and another organisation's record is absent", async () => {
  const orgId = newId("org");
  const { recordId } = await record(orgId, {});
  await updateRecordStatus(deps, { orgId, recordId, status: "CONFIRMED", failureReason: undefined });
  const change = { recordId, status: "FAILED" as const, failureReason: undefined };
  await expect(updateRecordStatus(deps, { orgId, ...change })).rejects.toMatchObject({ code: "TX_003" });
  const stranger = { orgId: newId("org"), recordId };
  await expect(updateRecordStatus(deps, { ...stranger, ...change })).rejects.toMatchObject({
    code: "TX_001",
  });
  await expect(getRecord(deps, stranger)).rejects.toMatchObject({ code: "TX_001" });
  await expect(
    updateRecordSchedule(deps, { orgId, recordId, scheduledAt: scheduledAt() }),
  ).rejects.toMatchObject({ code: "TX_004" });
});

test("lists newest first, by page and by cursor, with every filter", async () => {
  const orgId = newId("org");
  const made: TransactionRecord[] = [];
  for (let index = 0; index < 12; index += 1) {
    const from = [ALICE, BOB, CAROL][index % 3]!;
    const to = index % 2 ? ALICE : BOB;
    made.push(
      await record(orgId, { fromAddress: from, toAddress: to }, index % 4 === 0 ? scheduledAt() : undefined),
    );
  }
  for (const { recordId } of made.slice(0, 3))
    await updateRecordStatus(deps, { orgId, recordId, status: "FAILED", failureReason: undefined });
  const expected = (keep: (one: (typeof made)[number], index: number) => boolean) =>
    made
      .filter(keep)
      .map(({ recordId }) => recordId)
      .reverse();

  expect(await ids(orgId, {})).toEqual(expected(() => true));
  expect(await ids(orgId, { status: "FAILED" })).toEqual(expected((_, index) => index < 3));
  expect(await ids(orgId, { paymentType: "SCHEDULED" })).toEqual(expected((_, index) => index % 4 === 0));
  expect(await ids(orgId, { address: ALICE.toLowerCase() })).toEqual(
    expected((one) => one.fromAddress === ALICE || one.toAddress === ALICE),
  );
  expect(await ids(orgId, { address: ALICE, status: "FAILED", paymentType: "SCHEDULED" })).toEqual(
    expected((_, index) => index === 0),
  );
  expect(await ids(orgId, { from: made[3]!.createdAt, to: made[7]!.createdAt })).toEqual(
    expected((_, index) => index >= 3 && index < 7),
  );

  const walked: string[] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const position = cursor === undefined ? undefined : ({ $case: "cursor", value: cursor } as const);
    const { items, info } = await list(orgId, { address: ALICE, page: readPage({ limit: 2, position }) });
    walked.push(...items.map(({ recordId }) => recordId));
    cursor = info.nextCursor;
    more = info.hasNext;
  }
  expect(walked).toEqual(await ids(orgId, { address: ALICE }));
  const second = await list(orgId, {
    page: readPage({ limit: 5, position: { $case: "currentPage", value: 2 } }),
  });
  expect(second.items.map(({ recordId }) => recordId)).toEqual(expected(() => true).slice(5, 10));
  expect(second.info.totalCount).toBe(12);
});

test("reference, amounts and order filter and sort the list in both directions", async () => {
  const orgId = newId("org");
  const made: TransactionRecord[] = [];
  for (let n = 0; n < 9; n += 1) {
    const notes = n % 3 === 0 ? {} : { reference: `order-${n % 3}` };
    made.push(await record(orgId, { amount: String(1_000_000 * (n + 1)), ...notes }));
  }
  const expected = (keep: (one: TransactionRecord, index: number) => boolean) =>
    made.filter(keep).map(({ recordId }) => recordId);
  const oldestFirst = { page: readPage({ limit: 100, position: undefined, oldestFirst: true }) };
  expect(await ids(orgId, oldestFirst)).toEqual(expected(() => true));
  expect(await ids(orgId, { reference: "order-2" })).toEqual(expected((_, n) => n % 3 === 2).reverse());
  expect(await ids(orgId, { reference: "order-1", status: "FAILED" })).toEqual([]);
  expect(await ids(orgId, { reference: "order-1", address: CAROL })).toEqual([]);
  const range = { minAmount: 3_000_000n, maxAmount: 6_000_000n };
  expect(await ids(orgId, { ...range, ...oldestFirst })).toEqual(expected((_, n) => n >= 2 && n <= 5));
  const { info } = await list(orgId, { ...range, address: ALICE });
  expect(info).toEqual({ hasNext: false, nextCursor: undefined, totalCount: 4 });

  const walked: string[] = [];
  for (let cursor: string | undefined; ;) {
    const position = cursor === undefined ? undefined : ({ $case: "cursor", value: cursor } as const);
    const page = readPage({ limit: 2, position, oldestFirst: true });
    const { items, info: part } = await list(orgId, { ...range, page });
    walked.push(...items.map(({ recordId }) => recordId));
    if (!part.hasNext) break;
    cursor = part.nextCursor;
  }
  expect(walked).toEqual(expected((_, n) => n >= 2 && n <= 5));
});

test("metadata changes in any state, without a line in the history, and a replay keeps the request's", async () => {
  const orgId = newId("org");
  const key = { idempotencyKey: "once", bodyHash: Buffer.alloc(32, 3) };
  const request = wanted(orgId, { reference: "order-7" });
  const given = { ...request, fields: { ...request.fields, metadata: { shop: "A", till: "3" } }, key };
  const { record: made } = await createRecord(deps, given);
  await updateRecordStatus(deps, {
    orgId,
    recordId: made.recordId,
    status: "CONFIRMED",
    failureReason: undefined,
  });
  const change = { orgId, recordId: made.recordId, set: { till: "4" }, remove: ["shop"] };
  const changed = await updateRecordMetadata(deps, change);
  expect(changed).toMatchObject({ status: "CONFIRMED", changedMetadata: { till: "4" }, version: 3n });
  // A repetition changes nothing.
  expect(await updateRecordMetadata(deps, change)).toEqual(changed);
  const { record: read, history } = await getRecord(deps, change);
  expect([read, history.length]).toEqual([changed, 2]);
  const { record: replay, replayed } = await createRecord(deps, given);
  expect([replayed, recordMessage(replay, []).fields]).toMatchObject([
    true,
    { reference: "order-7", metadata: { shop: "A", till: "3" } },
  ]);
  const events = await database.db.query<{ version: bigint; payload: Buffer }>(
    sql`select version, payload from outbox where aggregate_id = ${made.recordId} order by version`,
  );
  expect(RecordChanged.decode(events.at(-1)!.payload).record).toMatchObject({
    ...{ fields: { metadata: { till: "4" } }, history: [] },
  });
  const eleven = Object.fromEntries([..."abcdefghijk"].map((name) => [name, "v"]));
  await expect(updateRecordMetadata(deps, { ...change, set: eleven })).rejects.toMatchObject({
    code: "REQ_001",
  });
  const absent = { ...change, recordId: newId("txn") };
  await expect(updateRecordMetadata(deps, absent)).rejects.toMatchObject({ code: "TX_001" });
  const foreign = { ...change, orgId: newId("org") };
  await expect(updateRecordMetadata(deps, foreign)).rejects.toMatchObject({ code: "TX_001" });
});

function scheduledAt(): Date {
  return new Date(clock + 3_600_000);
}

async function record(...given: Parameters<typeof wanted>): Promise<TransactionRecord> {
  return (await createRecord(deps, wanted(...given))).record;
}

function wanted(orgId: string, change: Record<string, string>, scheduledAt?: Date): RecordRequest {
  const random = `0x${newId("txn").slice(4)}${newId("txn").slice(4)}`;
  const fields = {
    fromNetworkType: "WON_TESTNET",
    toNetworkType: "WON_TESTNET",
    fromAddress: ALICE,
    toAddress: BOB,
    amount: "1000000",
    ...(scheduledAt ? { scheduledAt } : { txHash: random }),
    ...change,
  };
  const paymentType: PaymentType = scheduledAt ? "SCHEDULED" : "INSTANT";
  return { orgId, paymentType, fields, key: null };
}

function readPage(request: Parameters<typeof read>[0]) {
  return read(request, (key) => isId("txn", key));
}

function list(orgId: string, wanted: Partial<RecordQuery>) {
  const all = { status: null, paymentType: null, address: null, from: null, to: null };
  return listRecords(deps, { orgId, ...all, page: readPage({ limit: 100, position: undefined }), ...wanted });
}

async function ids(orgId: string, wanted: Partial<RecordQuery>): Promise<string[]> {
  return (await list(orgId, wanted)).items.map(({ recordId }) => recordId);
}
