import { type Database, isTransient } from "@wonrail/kit/db";
import { assert } from "@wonrail/kit/contract/errors";
import { siblingId } from "@wonrail/kit/contract/ids";
import { failpoint } from "@wonrail/kit/failpoint";
import { enumName, fromErrorDetail, type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type Counter } from "@wonrail/kit/metrics";
import { type PostOutcome, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { OperationStatus, type RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { type Transfer } from "@wonrail/kit/records";
import { FIRST_PLACE, listSettledTransfers, type SettledTransfer } from "../store/transfers";

export interface SettleDeps {
  db: Database;
  log: Log;
  relayer: Pick<PromiseClient<RelayerServiceService>, "getOperations">;
  post: (request: PostRequest) => Promise<PostOutcome>;
  mismatches: Counter;
}

const BATCH_SIZE = 200;

/**
 * Posts or voids the holds of outside transfers whose settlement is final. The ledger does each once, because the id of
 * the request follows from the transfer's id. The record changes when the journal event of the entry arrives.
 * A transfer that fails does not stop the others: the round throws at its end.
 */
export async function settleTransfers(deps: SettleDeps, signal?: AbortSignal): Promise<void> {
  const failed: { transferId: string; error: unknown }[] = [];
  const end = (settled: SettledTransfer) =>
    endHold(deps, settled).catch(
      (error: unknown) => void failed.push({ transferId: settled.transfer.transferId, error }),
    );
  let after = FIRST_PLACE;
  for (;;) {
    const settled = await listSettledTransfers(deps.db, after, BATCH_SIZE);
    await Promise.all((await dropUnconfirmed(deps, settled)).map(end));
    // When the ledger or Postgres is away, the next batch would fail too.
    const outage = failed.find(({ error }) => isTransient(error));
    if (outage) throw outage.error;
    if (settled.length < BATCH_SIZE || signal?.aborted) break;
    after = settled.at(-1)!.place;
  }
  const [first] = failed;
  if (!first) return;
  throw new Error(`${failed.length} transfers could not be ended, as ${first.transferId}`, {
    cause: first.error,
  });
}

/**
 * Drops the transfers about which chain-relayer disagrees with its event. Every writer to the bus can forge an event, so
 * an event alone never ends a hold.
 */
async function dropUnconfirmed(deps: SettleDeps, settled: SettledTransfer[]): Promise<SettledTransfer[]> {
  if (settled.length === 0) return [];
  const refs = settled.map(({ transfer: { orgId, transferId } }) => ({ orgId, ledgerRef: transferId }));
  const { operations } = await deps.relayer.getOperations({ refs });
  const statuses = new Map(
    operations.map(({ ref, status }) => [
      `${ref?.orgId}|${ref?.ledgerRef}`,
      enumName(OperationStatus, status),
    ]),
  );
  const statusOf = ({ orgId, transferId }: Transfer) => statuses.get(`${orgId}|${transferId}`);
  const confirmed = settled.filter((one) => statusOf(one.transfer) === one.settled);
  const mismatches = settled.filter((one) => statusOf(one.transfer) !== one.settled);
  const [first] = mismatches;
  if (first) {
    deps.mismatches.inc(mismatches.length);
    const { orgId, transferId } = first.transfer;
    const statusesOfFirst = { event: first.settled, relayer: statusOf(first.transfer) ?? "UNKNOWN" };
    deps.log.error(
      { orgId, transferId, ...statusesOfFirst, mismatches: mismatches.length },
      "an event and chain-relayer disagree about a transfer: its hold stays",
    );
  }
  return confirmed;
}

async function endHold({ post }: SettleDeps, { transfer, settled }: SettledTransfer): Promise<void> {
  const { orgId, transferId, memo, reference, metadata } = transfer;
  const value = { holdRequestId: transferId };
  const isConfirmed = settled === "CONFIRMED";
  const { outcome } = await post({
    context: { orgId, requestId: "", traceparent: "" },
    requestId: siblingId("trf", transferId, isConfirmed ? "post_hold" : "void_hold"),
    relatedId: transferId,
    memo: memo ?? undefined,
    reference: reference ?? undefined,
    metadata,
    intent: isConfirmed ? { $case: "postHold", value } : { $case: "voidHold", value },
  });
  await failpoint("payment.hold_ended");
  assert(outcome, `the ledger answered nothing for ${transferId}`);
  if (outcome.$case === "error") throw fromErrorDetail(outcome.value);
}
