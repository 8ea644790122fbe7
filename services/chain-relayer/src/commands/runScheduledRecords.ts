import { createHash } from "node:crypto";
import { runInContext } from "@wonrail/kit/context";
import { type Database, tx } from "@wonrail/kit/db";
import { DomainError, isRefusal } from "@wonrail/kit/errors";
import { failpoint } from "@wonrail/kit/failpoint";
import { groupBy } from "@wonrail/kit/groupBy";
import { fromErrorDetail, type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type Won } from "@wonrail/kit/money";
import { type PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { type WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type TransactionRecord, transferableWon } from "../domain/record";
import { lockRecord, postponeRecords, startDueRecords } from "../store/records";
import { changeRecord, type Change } from "./changeRecord";

export interface RunRecordsDeps {
  db: Database;
  log: Log;
  wallet: Pick<PromiseClient<WalletServiceService>, "findWalletsByAddress">;
  payment: Pick<PromiseClient<PaymentServiceService>, "execute">;
  now: () => number;
  /** How long others leave what was started here alone. Then they go on with it, under the same idempotency key. */
  recordLeaseMs: number;
}

const AT_ONCE = 100;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** Runs what is due as transfers: each is taken by one replica, and whoever repeats it gets the first one's outcome from payment. */
export async function runScheduledRecords(deps: RunRecordsDeps, signal: AbortSignal): Promise<void> {
  for (let more = true; more && !signal.aborted;) {
    const due = await tx(deps.db, (tx) => startDueRecords(tx, deps.recordLeaseMs, AT_ONCE));
    const byOrganisation = [...groupBy(due, ({ orgId }) => orgId)];
    await Promise.all(byOrganisation.map(([orgId, records]) => runThose(deps, orgId, records)));
    more = due.length === AT_ONCE;
  }
}

async function runThose(deps: RunRecordsDeps, orgId: string, records: TransactionRecord[]): Promise<void> {
  try {
    const addresses = [...new Set(records.map(({ fromAddress }) => fromAddress))];
    const { wallets } = await deps.wallet.findWalletsByAddress({ orgId, addresses });
    const normal = new Map(
      wallets
        .filter(({ walletType }) => walletType === WalletType.NORMAL)
        .map(({ walletAddress, walletId }) => [walletAddress.toLowerCase(), walletId]),
    );
    await Promise.all(
      records.map((record) => run(deps, record, normal.get(record.fromAddress.toLowerCase()))),
    );
  } catch (error) {
    await tryLater(deps, records, error);
  }
}

async function run(
  deps: RunRecordsDeps,
  record: TransactionRecord,
  walletId: string | undefined,
): Promise<void> {
  // Not one of the organisation's: its owner says what becomes of it.
  if (walletId === undefined) {
    const reason = "sender_is_not_a_normal_wallet";
    return finish(deps, record, { to: { run: "UNATTENDED" }, runAt: null, reason });
  }
  const amount = transferableWon(record.amount);
  if ("problem" in amount) return fail(deps, record, amount.problem);
  try {
    const transferId = await transfer(deps, record, walletId, amount.amountWon);
    await failpoint("relayer.scheduled");
    const to = { run: "SENT" as const, transferId };
    await finish(deps, record, { to, runAt: new Date(deps.now()), reason: `sent_as_${transferId}` });
  } catch (error) {
    if (isRefusal(error)) await fail(deps, record, `${error.code}: ${error.message}`);
    else await tryLater(deps, [record], error);
  }
}

/** The record's id is the idempotency key, and its content the body: both are the same for every try. */
function transfer(
  { payment }: RunRecordsDeps,
  record: TransactionRecord,
  fromWalletId: string,
  amountWon: Won,
): Promise<string> {
  const { orgId, recordId, requestId, traceparent, toAddress, memo } = record;
  const command = {
    fromWalletId,
    toWalletAddress: toAddress,
    amountWon: amountWon.toString(),
    memo: memo ?? undefined,
  };
  const bodyHash = createHash("sha256")
    .update(JSON.stringify([recordId, fromWalletId, toAddress, command.amountWon, memo]))
    .digest();
  return runInContext({ requestId, traceparent, orgId }, async () => {
    const { outcome } = await payment.execute({
      context: { requestId, traceparent, orgId },
      idempotencyKey: recordId,
      bodyHash,
      command: { $case: "transfer", value: command },
    });
    if (outcome?.$case === "transfer") return outcome.value.transferId;
    if (outcome?.$case === "error") throw fromErrorDetail(outcome.value);
    throw new DomainError("SYS_003");
  });
}

function fail(deps: RunRecordsDeps, record: TransactionRecord, failureReason: string): Promise<void> {
  const to = { status: "FAILED" as const, failureReason, run: "DONE" as const };
  return finish(deps, record, { to, runAt: null, reason: failureReason });
}

/** Unless another replica, to which it had fallen meanwhile, has written the same. */
async function finish(
  { db, now }: RunRecordsDeps,
  key: TransactionRecord,
  change: Pick<Change, "to" | "runAt" | "reason">,
): Promise<void> {
  await tx(db, async (tx) => {
    const record = await lockRecord(tx, key);
    if (record?.run !== "STARTED") return;
    await changeRecord(tx, record, { ...change, changedBy: "scheduler", nowMs: now() });
  });
}

/** Nobody knows whether it was done: it is asked for again under the same key. */
async function tryLater(
  { db, log }: RunRecordsDeps,
  records: TransactionRecord[],
  error: unknown,
): Promise<void> {
  log.warn({ records: records.length, err: error }, "scheduled transfers are tried again later");
  await postponeRecords(
    db,
    records.map((record) => ({
      key: record,
      delayMs: Math.min(FIRST_RETRY_MS * 2 ** Math.min(record.attempts, 10), LONGEST_RETRY_MS),
    })),
  );
}
