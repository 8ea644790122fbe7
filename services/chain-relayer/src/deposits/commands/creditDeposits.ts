import { type Database, isTransient, tx } from "@wonrail/kit/db";
import { childTraceparent, currentContext, runInContext } from "@wonrail/kit/context";
import { newId } from "@wonrail/kit/contract/ids";
import { type Log } from "@wonrail/kit/log";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { appendEvents } from "@wonrail/kit/outbox";
import {
  type LedgerServiceService,
  type PostOutcome,
  type PostRequest,
} from "@wonrail/proto/ledger/v1/ledger";
import { depositCredited } from "../events";
import { assertCanonical, type CanonicalDeps, findFurthestBlock } from "../../indexer";
import { listSeenDeposits, markCredited, postponeDeposit, type SeenDeposit } from "../store/deposits";

export interface CreditDeps extends CanonicalDeps {
  db: Database;
  log: Log;
  ledger: Pick<PromiseClient<LedgerServiceService>, "postBulk">;
  chain: { chainId: bigint; network: string };
}

const AT_ONCE = 500;

/**
 * Asks the ledger to credit deposits. Every attempt of any replica uses the same id and content.
 */
export async function creditDeposits(deps: CreditDeps, signal: AbortSignal): Promise<void> {
  for (let more = true; more && !signal.aborted;) {
    const deposits = await listSeenDeposits(deps.db, AT_ONCE);
    if (deposits.length === 0) return;
    // A replaced block may have taken the tokens with it.
    await assertCanonical(deps, (await findFurthestBlock(deps.db))!);
    await runInContext(ownContext(), () => credit(deps, deposits));
    more = deposits.length === AT_ONCE;
  }
}

async function credit(deps: CreditDeps, deposits: SeenDeposit[]): Promise<void> {
  const items = deposits.map((deposit) => requestFor(deposit, deps.chain.chainId));
  const { outcomes } = await deps.ledger.postBulk({ items });
  for (const [index, deposit] of deposits.entries())
    await take(deps, deposit, outcomes[index]).catch((error: unknown) => putOff(deps, deposit, error));
}

/**
 * Postpones a deposit that cannot be recorded, so that others continue. A forgotten ledger entry
 * may occupy its place on the chain.
 */
async function putOff({ db, log }: CreditDeps, deposit: SeenDeposit, error: unknown): Promise<void> {
  if (isTransient(error)) throw error;
  await postponeDeposit(db, deposit, "not_written");
  log.error(
    { txHash: deposit.txHash, logIndex: deposit.logIndex, err: error },
    "a credited deposit could not be recorded",
  );
}

async function take(
  { db, log, chain }: CreditDeps,
  deposit: SeenDeposit,
  answer?: PostOutcome,
): Promise<void> {
  if (answer?.outcome?.$case !== "posted") {
    const code = answer?.outcome?.value.code ?? "no_answer";
    await postponeDeposit(db, deposit, code);
    log.warn(
      { txHash: deposit.txHash, logIndex: deposit.logIndex, code },
      "the ledger does not take a deposit",
    );
    return;
  }
  // The log may have been credited under another id, before this database was set back.
  const ledgerRef = answer.outcome.value.requestId;
  await tx(db, async (tx) => {
    const changedAt = await markCredited(tx, deposit, ledgerRef);
    if (changedAt)
      await appendEvents(tx, [depositCredited({ ...deposit, ledgerRef, changedAt }, chain.network)]);
  });
}

function requestFor(deposit: SeenDeposit, chainId: bigint): PostRequest {
  const { orgId, ledgerRef, walletId, amountWon, blockHash, txHash, logIndex } = deposit;
  const { requestId, traceparent } = currentContext()!;
  return {
    context: { orgId, requestId, traceparent },
    requestId: ledgerRef,
    metadata: {},
    intent: {
      $case: "creditExternal",
      value: {
        walletId,
        amountWon: amountWon.toString(),
        chainLogId: `${chainId}/${blockHash}/${txHash}/${logIndex}`,
      },
    },
  };
}

function ownContext() {
  return { requestId: newId("req"), traceparent: childTraceparent() };
}
