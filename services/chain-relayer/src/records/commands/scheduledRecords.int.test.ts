import { sql } from "@wonrail/kit/db";
import { DomainError, errorTable, invalidRequest } from "@wonrail/kit/contract/errors";
import { toErrorDetail } from "@wonrail/kit/grpc/server";
import { idAt, newId } from "@wonrail/kit/contract/ids";
import { eventually } from "@wonrail/kit/testing";
import { type TransactionRecord } from "../domain/record";
import { getRecord } from "../queries/getRecord";
import { findOldestDueSeconds } from "../store/records";
import { finishScheduledRecords } from "./finishScheduledRecords";
import { runScheduledRecords } from "./runScheduledRecords";
import { INCENTIVE, OUTSIDE, schedules, WALLET } from "../../testing/schedules";
import { updateRecordSchedule } from "./updateRecordSchedule";
import { updateRecordStatus } from "./updateRecordStatus";

const signal = new AbortController().signal;
const world = schedules();
const { asked, stopped, replica, walker, apiDeps, transferOf, due, makeDue, read } = world;

test("three replicas make 200 transfers of 200 due records, none twice, although one is killed", async () => {
  const orgId = newId("org");
  const records: TransactionRecord[] = [];
  while (records.length < 200)
    records.push(...(await Promise.all(Array.from({ length: 50 }, () => due(orgId)))));
  const killed = replica();
  let [begun, done] = [0, 0];
  killed.payment = {
    // payment executes half of the transfers, and then the replica dies without the answers.
    execute: async (request) => {
      begun += 1;
      if (begun > 50) return new Promise<never>(() => {});
      await world.payment.execute(request);
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
  // Other replicas neither wait for its leased records nor take them early.
  expect(timesAsked()).toEqual(Array(150).fill(1));
  await makeDue(orgId);
  await Promise.all(alive.map((one) => runScheduledRecords(one, signal)));

  expect(timesAsked().sort()).toEqual([...Array<number>(150).fill(1), ...Array<number>(50).fill(2)]);
  for (const { recordId } of records) {
    const { record } = await getRecord(world.database, { orgId, recordId });
    expect(record).toMatchObject({ run: "SENT", transferId: transferOf(recordId) });
  }
}, 60_000);

test("a record that became due during an outage is executed after the start", async () => {
  const orgId = newId("org");
  const record = await due(orgId, { memo: "rent" });
  await runScheduledRecords(replica(), signal);
  const { request } = asked.get(record.recordId)!;
  expect(request).toMatchObject({
    context: { orgId },
    idempotencyKey: record.recordId,
    // Equal also after a restore to an earlier state.
    operationId: idAt("trf", record.scheduledAt!.getTime(), record.recordId),
    command: {
      value: { fromWalletId: WALLET, toWalletAddress: record.toAddress, amountWon: "3", memo: "rent" },
    },
  });
});

test("a sender's wallet is resolved within the record's own organisation", async () => {
  const orgIds = [newId("org"), newId("org")];
  for (const orgId of orgIds) await due(orgId);
  const one = replica();
  const { findWalletsByAddress } = one.wallet;
  const askedOf: string[] = [];
  one.wallet = { findWalletsByAddress: (of) => (askedOf.push(of.orgId), findWalletsByAddress(of)) };
  await runScheduledRecords(one, signal);
  expect(askedOf.sort()).toEqual(orgIds.sort());
});

test("metrics show the delay of sent records and the age of overdue ones", async () => {
  const orgId = newId("org");
  const late = async () => {
    const text = await world.metrics.metrics();
    const of = (what: string) =>
      Number(new RegExp(`^scheduled_late_seconds_${what} (\\S+)$`, "m").exec(text)![1]);
    return { count: of("count"), sum: of("sum") };
  };
  const before = await late();
  await due(orgId); // Five seconds ago.
  const away = { ...replica(), auth: { getOrganisation: () => Promise.reject(new DomainError("SYS_002")) } };
  await runScheduledRecords(away, signal);
  expect(await late()).toEqual(before);
  expect(await findOldestDueSeconds(world.database.db)).toBeGreaterThanOrEqual(5);

  await makeDue(orgId);
  await runScheduledRecords(replica(), signal);
  const after = await late();
  expect(after.count - before.count).toBe(1);
  expect(after.sum - before.sum).toBeGreaterThanOrEqual(5);
  const { recordId } = await due(orgId);
  await updateRecordSchedule(apiDeps(), { orgId, recordId, scheduledAt: new Date(Date.now() + 3_600_000) });
  expect(await findOldestDueSeconds(world.database.db)).toBe(0);
});

test("the outcome on the chain sets the record's status and hash", async () => {
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
  const { history } = await getRecord(world.database, good);
  expect(history.map(({ changedBy }) => changedBy)).toEqual(["api", "scheduler", "chain"]);
});

test("two thousand records that wait for the chain do not hide a settled one behind them", async () => {
  const orgId = newId("org");
  const first = await due(orgId);
  await runScheduledRecords(replica(), signal);
  // All sent at one time, without an operation yet.
  await world.database.db.run(sql`
    insert into records select (jsonb_populate_record(r, jsonb_build_object('record_id', record_id || '_' || n,
      'transfer_id', transfer_id || '_' || n))).*
    from records r, generate_series(1, 1999) as n where record_id = ${first.recordId}`);
  const last = await due(orgId);
  await runScheduledRecords(replica(), signal);
  await settle(orgId, transferOf(last.recordId)!, "CONFIRMED");
  const rows = () =>
    world.database.db.query<{ record_id: string; ctid: string }>(
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
  // Later tests start from the beginning.
  await world.database.db.run(
    sql`update records set run = 'UNATTENDED', run_at = null where org_id = ${orgId} and run = 'SENT'`,
  );
});

test("two replicas that read the same outcomes record each once", async () => {
  const orgId = newId("org");
  const records = await Promise.all(Array.from({ length: 60 }, () => due(orgId)));
  await runScheduledRecords(replica(), signal);
  for (const { recordId } of records) await settle(orgId, transferOf(recordId)!, "CONFIRMED");
  await Promise.all([walker(), walker()].map((one) => finishScheduledRecords(one, signal)));
  for (const record of records) {
    const { history } = await getRecord(world.database, record);
    expect(history.map(({ changedBy }) => changedBy)).toEqual(["api", "scheduler", "chain"]);
  }
});

test("an outcome of another organisation's operation with the same name settles nothing", async () => {
  const record = await due(newId("org"));
  await runScheduledRecords(replica(), signal);
  await settle(newId("org"), transferOf(record.recordId)!, "FAILED");
  await finishScheduledRecords(walker(), signal);
  expect(await read(record)).toMatchObject({ status: "PENDING", run: "SENT" });
});

test.each([
  [new DomainError("TRF_001"), `TRF_001: ${errorTable.TRF_001.message}`],
  [invalidRequest([{ path: "operationId", message: "is of a month" }]), "scheduled_too_long_ago"],
])("a refused transfer fails the record with the reason: %s", async (refusal, failureReason) => {
  world.refuseBy(() => ({ $case: "error", value: toErrorDetail(refusal) }));
  const record = await due(newId("org"));
  await runScheduledRecords(replica(), signal);
  expect(await read(record)).toMatchObject({ status: "FAILED", run: "DONE", failureReason });
});

test("an unclear answer is retried under the same key until it is clear", async () => {
  const record = await due(newId("org"));
  const unclear = replica();
  unclear.payment = {
    execute: async (request) => {
      await world.payment.execute(request);
      return { replayed: false, outcome: { $case: "error", value: { code: "SYS_003" } } };
    },
  };
  await runScheduledRecords(unclear, signal);
  expect(await read(record)).toMatchObject({ status: "PENDING", run: "STARTED" });
  await makeDue(record.orgId);
  await runScheduledRecords(replica(), signal);
  expect(await read(record)).toMatchObject({ run: "SENT", transferId: transferOf(record.recordId) });
});

test("an unclear answer is retried within half a minute after any number of attempts", async () => {
  const { recordId } = await due(newId("org"));
  await world.database.db.run(sql`update records set attempts = 2000 where record_id = ${recordId}`);
  const away = { ...replica(), auth: { getOrganisation: () => Promise.reject(new DomainError("SYS_002")) } };
  await runScheduledRecords(away, signal);
  const { seconds } = await world.database.db.one<{ seconds: number }>(sql`
    select extract(epoch from run_at - clock_timestamp())::float8 as seconds from records where record_id = ${recordId}`);
  expect(Math.ceil(seconds / 10)).toBe(3);
});

test("a fraction of a KRW fails, and records of other wallet types are left to their owner", async () => {
  const orgId = newId("org");
  const fraction = await due(orgId);
  // As an older release stored it.
  await world.database.db.run(
    sql`update records set amount = 1500000 where record_id = ${fraction.recordId}`,
  );
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

test("exactly one of a concurrent schedule change and start takes effect", async () => {
  const orgId = newId("org");
  const records = await Promise.all(Array.from({ length: 60 }, () => due(orgId)));
  const later = new Date(Date.now() + 3_600_000);
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

test("the owner cannot set the status of a started record", async () => {
  const orgId = newId("org");
  const { recordId } = await due(orgId);
  await runScheduledRecords(replica(), signal);
  const change = { orgId, recordId, status: "FAILED" as const, failureReason: undefined };
  await expect(updateRecordStatus(apiDeps(), change)).rejects.toMatchObject({ code: "TX_003" });
});

test("due records of a suspended organisation fail with the gateway's code, and others proceed", async () => {
  const [orgId, other] = [newId("org"), newId("org")];
  const records = [await due(orgId), await due(orgId)];
  const outside = await due(orgId, { fromAddress: OUTSIDE });
  const goesOn = await due(other);
  stopped.add(orgId);
  await runScheduledRecords(replica(), signal);
  for (const record of records) {
    const { record: found, history } = await getRecord(world.database, record);
    expect(found).toMatchObject({ status: "FAILED", run: "DONE", transferId: null });
    expect(found.failureReason).toBe(`WAUTH_003: ${errorTable.WAUTH_003.message}`);
    expect(history.map(({ changedBy, status }) => [changedBy, status])).toEqual([
      ["api", "PENDING"],
      ["scheduler", "FAILED"],
    ]);
  }
  expect(await eventsOf(records)).toEqual([2n, 2n]);
  expect(records.some(({ recordId }) => asked.has(recordId))).toBe(false);
  // Not a transfer of ours: its owner maintains the status.
  expect(await read(outside)).toMatchObject({ status: "PENDING", run: "UNATTENDED" });
  expect(await read(goesOn)).toMatchObject({ run: "SENT", transferId: transferOf(goesOn.recordId) });

  // After the resumption, failed records stay failed and new ones are sent.
  stopped.delete(orgId);
  const after = await due(orgId);
  await makeDue(orgId);
  await runScheduledRecords(replica(), signal);
  expect(await read(after)).toMatchObject({ run: "SENT" });
  expect(records.some(({ recordId }) => asked.has(recordId))).toBe(false);
});

test("a started transfer ends although its organisation is suspended", async () => {
  const record = await due(newId("org"));
  const unclear = replica();
  unclear.payment = {
    execute: async (request) => {
      await world.payment.execute(request);
      stopped.add(record.orgId);
      throw new DomainError("SYS_003");
    },
  };
  await runScheduledRecords(unclear, signal);
  await makeDue(record.orgId);
  await runScheduledRecords(replica(), signal);
  expect(await read(record)).toMatchObject({ run: "SENT", transferId: transferOf(record.recordId) });
});

test("due records wait while auth is away, and started ones continue", async () => {
  const orgId = newId("org");
  const begun = await due(orgId);
  const unclear = replica();
  unclear.payment = { execute: () => Promise.reject(new DomainError("SYS_003")) };
  await runScheduledRecords(unclear, signal);
  const waits = await due(orgId);
  await makeDue(orgId);
  const alone = replica();
  // An organisation that auth does not know is no answer either.
  for (const error of [new DomainError("SYS_002"), new DomainError("REQ_001")]) {
    alone.auth = { getOrganisation: () => Promise.reject(error) };
    await runScheduledRecords(alone, signal);
    expect(await read(waits)).toMatchObject({ status: "PENDING", run: "WAITING" });
    expect(asked.has(waits.recordId)).toBe(false);
    await makeDue(orgId);
  }
  expect(await read(begun)).toMatchObject({ run: "SENT" });
  await runScheduledRecords(replica(), signal);
  expect(await read(waits)).toMatchObject({ run: "SENT" });
});

test("an answer of auth counts only within the lease that asked for it", async () => {
  const record = await due(newId("org"));
  const slow = replica();
  slow.auth = {
    getOrganisation: async () => {
      await makeDue(record.orgId);
      return { organisation: undefined, subscriptionActive: true };
    },
  };
  await runScheduledRecords(slow, signal);
  expect(await read(record)).toMatchObject({ run: "WAITING" });
  // An answer does not count in another replica's lease either.
  slow.auth = {
    getOrganisation: async () => {
      await makeDue(record.orgId);
      const away = replica();
      away.auth = { getOrganisation: () => new Promise<never>(() => {}) };
      void runScheduledRecords(away, signal);
      await eventually(async () => expect(await read(record)).toMatchObject({ attempts: 3 }));
      return { organisation: undefined, subscriptionActive: true };
    },
  };
  await runScheduledRecords(slow, signal);
  expect(await read(record)).toMatchObject({ run: "WAITING" });
  expect(asked.has(record.recordId)).toBe(false);
});

test.each([
  ["may go on", () => Promise.resolve({ organisation: undefined, subscriptionActive: true })],
  ["is stopped", () => Promise.resolve({ organisation: undefined, subscriptionActive: false })],
  ["is not known", () => Promise.reject(new DomainError("SYS_002"))],
])("a change by the owner during a call to auth is kept: the organisation %s", async (_state, answer) => {
  const orgId = newId("org");
  const [putOff, failed] = [await due(orgId), await due(orgId)];
  const later = new Date(Date.now() + 3_600_000);
  const one = replica();
  one.auth = {
    getOrganisation: async () => {
      await updateRecordSchedule(apiDeps(), { ...putOff, scheduledAt: later });
      await updateRecordStatus(apiDeps(), { ...failed, status: "FAILED", failureReason: "not ours" });
      return answer();
    },
  };
  await runScheduledRecords(one, signal);
  const row = await world.database.db.one<{ run: string; run_at: Date; attempts: number }>(
    sql`select run, run_at, attempts from records where org_id = ${orgId} and record_id = ${putOff.recordId}`,
  );
  // Its new time resets the pauses of earlier attempts.
  expect(row).toEqual({ run: "WAITING", run_at: later, attempts: 0 });
  expect(await read(failed)).toMatchObject({ status: "FAILED", failureReason: "not ours" });
  expect([putOff, failed].some(({ recordId }) => asked.has(recordId))).toBe(false);
});

/** The versions of the newest event of each. */
async function eventsOf(records: TransactionRecord[]): Promise<bigint[]> {
  const rows = await world.database.db.query<{ version: bigint }>(sql`
    select max(version) as version from outbox where type = 'record_changed'
      and aggregate_id = any(${records.map(({ recordId }) => recordId)}) group by aggregate_id`);
  return rows.map(({ version }) => version);
}

/** Ends the operation as settlement does. */
async function settle(orgId: string, ledgerRef: string, state: "CONFIRMED" | "FAILED"): Promise<void> {
  const id = newId("opn").slice(4).repeat(2);
  const hash = `0x${"11".repeat(32)}`;
  const failed = state === "FAILED";
  await world.database.db.run(sql`
    insert into operations (org_id, ledger_ref, related_id, kind, operation_id, steps, from_wallets, wallets, org_sequence, state, tx_hash,
      block_hash, failure_reason, proof_block_hash)
    values (${orgId}, ${ledgerRef}, ${ledgerRef}, 'INTENT_KIND_TRANSFER', ${id}, '[]', '{}', '{}', 1, ${state}, ${failed ? null : hash},
      ${failed ? null : hash}, ${failed ? "expired" : null}, ${failed ? hash : null})`);
}
