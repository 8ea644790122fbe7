import { createHash } from "node:crypto";
import { runInContext } from "@wonrail/kit/context";
import { type Database, tx } from "@wonrail/kit/db";
import { DomainError, isRefusal, refusedFields } from "@wonrail/kit/contract/errors";
import { failpoint } from "@wonrail/kit/failpoint";
import { groupBy } from "@wonrail/kit/groupBy";
import { idAt } from "@wonrail/kit/contract/ids";
import { fromErrorDetail, type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type Won } from "@wonrail/kit/contract/money";
import { type AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { type PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { dueTimeOf, type TransactionRecord, transferableWon } from "../domain/record";
import { lockRecord, postponeRecords, startRecords, takeDueRecords } from "../store/records";
import { changeRecord, type Change } from "./changeRecord";
import { findNormalWallets, type WalletFinder } from "./findNormalWallets";
import { type ScheduledMetrics } from "../scheduledMetrics";

export interface RunRecordsDeps {
  db: Database;
  log: Log;
  auth: Pick<PromiseClient<AuthServiceService>, "getOrganisation">;
  wallet: WalletFinder;
  payment: Pick<PromiseClient<PaymentServiceService>, "execute">;
  now: () => number;
  scheduled: Pick<ScheduledMetrics, "late">;
  /**
   * Lease of a started record. Afterwards another replica continues it under the same idempotency
   * key.
   */
  recordLeaseMs: number;
}

const AT_ONCE = 100;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/**
 * Executes due records as transfers. Each is taken by one replica, and a repetition gets the first
 * outcome from payment. A waiting record starts when auth confirms its organisation. A started
 * record continues to its end, because payment may have executed it.
 */
export async function runScheduledRecords(deps: RunRecordsDeps, signal: AbortSignal): Promise<void> {
  for (let more = true; more && !signal.aborted;) {
    const due = await tx(deps.db, (tx) => takeDueRecords(tx, deps.recordLeaseMs, AT_ONCE));
    const byOrganisation = [...groupBy(due, ({ orgId }) => orgId)];
    await Promise.all(byOrganisation.map(([orgId, records]) => runThose(deps, orgId, records)));
    more = due.length === AT_ONCE;
  }
}

/** A record and its transfer. */
interface Planned {
  record: TransactionRecord;
  walletId: string;
  amountWon: Won;
}

async function runThose(deps: RunRecordsDeps, orgId: string, records: TransactionRecord[]): Promise<void> {
  try {
    const addresses = [...new Set(records.map(({ fromAddress }) => fromAddress))];
    const normal = await findNormalWallets(deps.wallet, orgId, addresses);
    const plans = await Promise.all(
      records.map((record) => plan(deps, record, normal.get(record.fromAddress.toLowerCase()))),
    );
    const planned = plans.filter((one) => one !== undefined);
    const isBegun = ({ record }: Planned) => record.run === "STARTED";
    await Promise.all([
      ...planned.filter(isBegun).map((one) => send(deps, one)),
      begin(
        deps,
        orgId,
        planned.filter((one) => !isBegun(one)),
      ),
    ]);
  } catch (error) {
    await tryLater(deps, records, error);
  }
}

/** Returns undefined for a record that cannot be a transfer, after storing the reason. */
async function plan(
  deps: RunRecordsDeps,
  record: TransactionRecord,
  walletId: string | undefined,
): Promise<Planned | undefined> {
  // The sender is no wallet of the organisation, so its owner maintains the status.
  if (walletId === undefined) {
    const reason = "sender_is_not_a_normal_wallet";
    await finish(deps, record, { to: { run: "UNATTENDED" }, runAt: null, reason });
    return undefined;
  }
  const amount = transferableWon(record.amount);
  if ("amountWon" in amount) return { record, walletId, amountWon: amount.amountWon };
  await fail(deps, record, amount.problem);
  return undefined;
}

/** Asks auth last, so that the answer is current. Without an answer the records wait. */
async function begin(deps: RunRecordsDeps, orgId: string, planned: Planned[]): Promise<void> {
  if (planned.length === 0) return;
  const records = planned.map(({ record }) => record);
  try {
    const { subscriptionActive } = await deps.auth.getOrganisation({ by: { $case: "orgId", value: orgId } });
    if (!subscriptionActive) {
      const refusal = new DomainError("WAUTH_003");
      await Promise.all(records.map((record) => fail(deps, record, reasonOf(refusal))));
      return;
    }
    const started = await startRecords(deps.db, orgId, records, deps.recordLeaseMs);
    const byId = new Map(started.map((record) => [record.recordId, record]));
    const begun = planned.flatMap((one) => {
      const record = byId.get(one.record.recordId);
      return record ? [{ ...one, record }] : [];
    });
    await Promise.all(begun.map((one) => send(deps, one)));
  } catch (error) {
    await tryLater(deps, records, error);
  }
}

async function send(deps: RunRecordsDeps, planned: Planned): Promise<void> {
  const { record } = planned;
  try {
    const transferId = await transfer(deps, planned);
    await failpoint("relayer.scheduled");
    const to = { run: "SENT" as const, transferId };
    const sentMs = deps.now();
    await finish(deps, record, { to, runAt: new Date(sentMs), reason: `sent_as_${transferId}` });
    deps.scheduled.late.observe(Math.max(0, sentMs - dueTimeOf(record).getTime()) / 1000);
  } catch (error) {
    if (isRefusal(error)) await fail(deps, record, reasonOf(error));
    else await tryLater(deps, [record], error);
  }
}

/**
 * The record's id is the idempotency key, which payment keeps apart from partners' keys because an
 * operation id comes with it. Key and body are equal in every attempt. So is the transfer's id,
 * from which its names on the chain follow. So a restored database repeats no transfer.
 */
function transfer(
  { payment }: RunRecordsDeps,
  { record, walletId: fromWalletId, amountWon }: Planned,
): Promise<string> {
  const { orgId, recordId, requestId, traceparent, toAddress, memo } = record;
  const command = {
    fromWalletId,
    toWalletAddress: toAddress,
    amountWon: amountWon.toString(),
    memo: memo ?? undefined,
    metadata: {},
  };
  const bodyHash = createHash("sha256")
    .update(JSON.stringify([recordId, fromWalletId, toAddress, command.amountWon, memo]))
    .digest();
  return runInContext({ requestId, traceparent, orgId }, async () => {
    const { outcome } = await payment.execute({
      context: { requestId, traceparent, orgId },
      idempotencyKey: recordId,
      operationId: idAt("trf", dueTimeOf(record).getTime(), recordId),
      bodyHash,
      command: { $case: "transfer", value: command },
    });
    if (outcome?.$case === "transfer") return outcome.value.transferId;
    if (outcome?.$case === "error") throw fromErrorDetail(outcome.value);
    throw new DomainError("SYS_003");
  });
}

/**
 * The transfer's id contains the due time, so payment's refusal means that the ledger
 * lacks that month.
 */
function reasonOf(refusal: DomainError): string {
  if (refusedFields(refusal).includes("operationId")) return "scheduled_too_long_ago";
  return `${refusal.code}: ${refusal.message}`;
}

function fail(deps: RunRecordsDeps, record: TransactionRecord, failureReason: string): Promise<void> {
  const to = { status: "FAILED" as const, failureReason, run: "DONE" as const };
  return finish(deps, record, { to, runAt: null, reason: failureReason });
}

/** Unless its owner or another replica was first. */
async function finish(
  { db, now }: RunRecordsDeps,
  taken: TransactionRecord,
  change: Pick<Change, "to" | "runAt" | "reason">,
): Promise<void> {
  await tx(db, async (tx) => {
    const record = await lockRecord(tx, taken);
    if (record?.run !== taken.run || record.version !== taken.version) return;
    await changeRecord(tx, record, { ...change, changedBy: "scheduler", nowMs: now() });
  });
}

/** Retries started records under the same key, because their outcome is unknown. */
async function tryLater(
  { db, log }: RunRecordsDeps,
  records: TransactionRecord[],
  error: unknown,
): Promise<void> {
  log.warn({ records: records.length, err: error }, "scheduled transfers are tried again later");
  await postponeRecords(
    db,
    records.map((record) => ({
      record,
      delayMs: Math.min(FIRST_RETRY_MS * 2 ** Math.min(record.attempts, 10), LONGEST_RETRY_MS),
    })),
  );
}
