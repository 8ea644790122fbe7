import { type Database, isTransient, tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { enumName, type PromiseClient } from "@wonrail/kit/grpc/client";
import { siblingId } from "@wonrail/kit/contract/ids";
import { type Log } from "@wonrail/kit/log";
import { type Counter } from "@wonrail/kit/metrics";
import { appendEvents } from "@wonrail/kit/outbox";
import { type PostRequest, type PostResponse } from "@wonrail/proto/ledger/v1/ledger";
import { OperationStatus, type RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { type Transfer } from "../domain/transfer";
import { transferCompleted, transferFailed } from "../events";
import { transferMessage } from "../messages";
import { findSettlements } from "../store/settlements";
import { FIRST_PLACE, finishTransfer, listSettledTransfers, type SettledTransfer } from "../store/transfers";

export interface SettleDeps {
  db: Database;
  log: Log;
  relayer: Pick<PromiseClient<RelayerServiceService>, "getOperations">;
  post: (request: PostRequest) => Promise<PostResponse>;
  network: string;
  doubted: Counter;
}

const AT_ONCE = 200;

/**
 * Ends transfers to outside addresses about which the chain has said its last word: what was held is posted, or given back on the relayer's
 * proof, if the relayer itself says so. Each step may be repeated: the ledger posts or voids a hold once, under an id that is always the same. One
 * that cannot be ended keeps none behind it waiting; the round fails at its end.
 */
export async function settleTransfers(deps: SettleDeps, signal?: AbortSignal): Promise<void> {
  const failed: { transferId: string; error: unknown }[] = [];
  const end = ({ transfer, settled, reason }: SettledTransfer) =>
    (settled === "CONFIRMED" ? complete(deps, transfer) : giveBack(deps, transfer, reason)).catch(
      (error: unknown) => void failed.push({ transferId: transfer.transferId, error }),
    );
  let after = FIRST_PLACE;
  for (;;) {
    const settled = await listSettledTransfers(deps.db, after, AT_ONCE);
    await Promise.all((await leaveDoubted(deps, settled)).map(end));
    // The ledger or Postgres is away: the next ones would only find the same.
    const away = failed.find(({ error }) => isTransient(error));
    if (away) throw away.error;
    if (settled.length < AT_ONCE || signal?.aborted) break;
    after = settled.at(-1)!.place;
  }
  const [first] = failed;
  if (!first) return;
  throw new Error(`${failed.length} transfers could not be ended, as ${first.transferId}`, {
    cause: first.error,
  });
}

/** What is on the bus may be there from anybody who can write to it. It is asked about again in each round, until both say the same. */
async function leaveDoubted(deps: SettleDeps, settled: SettledTransfer[]): Promise<SettledTransfer[]> {
  if (settled.length === 0) return [];
  const refs = settled.map(({ transfer: { orgId, transferId } }) => ({ orgId, ledgerRef: transferId }));
  const { operations } = await deps.relayer.getOperations({ refs });
  const said = new Map(
    operations.map(({ ref, status }) => [
      `${ref?.orgId}|${ref?.ledgerRef}`,
      enumName(OperationStatus, status),
    ]),
  );
  const sayingOf = ({ orgId, transferId }: Transfer) => said.get(`${orgId}|${transferId}`);
  const believed = settled.filter((one) => sayingOf(one.transfer) === one.settled);
  const doubted = settled.filter((one) => sayingOf(one.transfer) !== one.settled);
  const [first] = doubted;
  if (first) {
    deps.doubted.inc(doubted.length);
    const { orgId, transferId } = first.transfer;
    const sayings = { onBus: first.settled, atRelayer: sayingOf(first.transfer) ?? "UNKNOWN" };
    deps.log.error(
      { orgId, transferId, ...sayings, doubted: doubted.length },
      "the bus says of a transfer what chain-relayer does not: its hold stays",
    );
  }
  return believed;
}

async function complete(deps: SettleDeps, transfer: Transfer): Promise<void> {
  const holdRequestId = transfer.transferId;
  await deps.post(requestFor(transfer, "post_hold", { $case: "postHold", value: { holdRequestId } }));
  await finish(deps, transfer, "COMPLETED", null);
}

async function giveBack(deps: SettleDeps, transfer: Transfer, reason: string | null): Promise<void> {
  const holdRequestId = transfer.transferId;
  await deps.post(requestFor(transfer, "void_hold", { $case: "voidHold", value: { holdRequestId } }));
  await finish(deps, transfer, "FAILED", reason);
}

function requestFor(
  { orgId, transferId, memo }: Transfer,
  purpose: string,
  intent: NonNullable<PostRequest["intent"]>,
): PostRequest {
  return {
    context: { orgId, requestId: "", traceparent: "" },
    requestId: siblingId("trf", transferId, purpose),
    relatedId: transferId,
    memo: memo ?? undefined,
    intent,
  };
}

async function finish(
  { db, network }: SettleDeps,
  { orgId, transferId }: Transfer,
  status: "COMPLETED" | "FAILED",
  reason: string | null,
): Promise<void> {
  await failpoint("payment.hold_ended");
  await tx(db, async (tx) => {
    const finished = await finishTransfer(tx, { orgId, transferId }, status, reason);
    if (!finished) return;
    const settlements = await findSettlements(tx, orgId, [transferId]);
    const told = status === "COMPLETED" ? transferCompleted : transferFailed;
    await appendEvents(tx, [
      told(finished, transferMessage(finished, network, settlements.get(transferId)), {}),
    ]);
    await failpoint("payment.ending");
  });
}
