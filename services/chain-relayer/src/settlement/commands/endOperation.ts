import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { type Provider, tokenOf, type TransferReceipt } from "../../evm";
import { findAddresses, findCursor, listPaymentManagers } from "../../indexer";
import { isMovementOf } from "../domain/movement";
import { operationIdAnew, walletsOf } from "../domain/steps";
import { operationsConfirmed } from "../events";
import {
  giveUpHold,
  hasSettled,
  lockDeadEnd,
  type OperatorDecision,
  passOver,
  renameOperation,
  saveDecision,
} from "../store/operatorDecisions";
import { isHold, markConfirmed, type Operation } from "../store/operations";
import { pullAgainFrom } from "../store/settlementQueues";

export interface EndDeps {
  db: Database;
  provider: Pick<Provider, "callAt" | "transferReceipts" | "block">;
  network: string;
}

export type Ending =
  | "done"
  | "another_way"
  | "not_at_a_dead_end"
  | "only_a_hold_is_given_up"
  | "custody_signs_no_other"
  | "no_proof";

/**
 * An operator ends an operation that cannot end by itself, because something else used its name or
 * custody signed something else for it:
 * settled elsewhere by a final transaction that moved exactly its steps; given up and re-credited, if
 * it is a hold, as soon as it is proven that it cannot settle; or sent anew under another name.
 * An entry that is BLOCKED is read again, or passed over: then it never settles on the chain.
 */
export async function endOperation(
  deps: EndDeps,
  ledgerRef: string,
  decision: OperatorDecision,
): Promise<Ending> {
  // Asked before any lock is taken.
  const receipt = decision.txHash === null ? null : await findFinalReceipt(deps, decision.txHash);
  return tx(deps.db, async (tx) => {
    const operation = await lockDeadEnd(tx, ledgerRef);
    if (!operation) return "not_at_a_dead_end";
    const ending = await apply(tx, operation, decision, { receipt, network: deps.network });
    if (ending === "done") await saveDecision(tx, operation, decision);
    return ending;
  });
}

async function apply(
  tx: Tx,
  operation: Operation,
  { decision, txHash }: OperatorDecision,
  { receipt, network }: { receipt: TransferReceipt | null; network: string },
): Promise<Ending> {
  const isBlocked = operation.state === "BLOCKED";
  if (isBlocked !== (decision === "read_again" || decision === "pass_over")) return "another_way";
  switch (decision) {
    case "read_again":
      await pullAgainFrom(tx, operation.orgId, operation.orgSequence);
      return "done";
    case "pass_over":
      await passOver(tx, operation);
      return "done";
    case "settled_elsewhere": {
      if (!receipt || !(await isProof(tx, operation, txHash!, receipt))) return "no_proof";
      const { blockNumber, blockHash } = receipt;
      const proof = { operation, txHash: txHash!, blockNumber, blockHash, gasUsed: 0n };
      const confirmed = await markConfirmed(tx, [proof]);
      await appendEvents(tx, operationsConfirmed(confirmed, network));
      return "done";
    }
    case "give_up":
      if (!isHold(operation)) return "only_a_hold_is_given_up";
      // The chain says of the old name that it was executed.
      await renameOperation(tx, operation, operationIdAnew(operation.operationId));
      await giveUpHold(tx, operation);
      return "done";
    case "sign_anew":
      if (operation.waitReason !== "name_taken") return "custody_signs_no_other";
      await renameOperation(tx, operation, operationIdAnew(operation.operationId));
      return "done";
  }
}

/** The receipt of a transaction that went through in an indexed block. */
async function findFinalReceipt({ db, provider }: EndDeps, txHash: string): Promise<TransferReceipt | null> {
  const [cursor, manager] = [await findCursor(db), (await listPaymentManagers(db)).at(-1)];
  if (!cursor || manager === undefined) return null;
  const token = await tokenOf(provider, manager, cursor.blockNumber);
  if (token === null) return null;
  const receipt = (await provider.transferReceipts([txHash], token)).get(txHash);
  if (!receipt?.succeeded || receipt.blockNumber > cursor.blockNumber) return null;
  const block = await provider.block(receipt.blockNumber);
  return block?.hash === receipt.blockHash ? receipt : null;
}

/** Each step needs a transfer of its own in the transaction, and no operation of ours claims that one. */
async function isProof(
  tx: Tx,
  { steps }: Operation,
  txHash: string,
  { transfers }: TransferReceipt,
): Promise<boolean> {
  if (await hasSettled(tx, txHash)) return false;
  const addresses = await findAddresses(tx, walletsOf(steps));
  const left = [...transfers];
  return steps.every((step) => {
    const index = left.findIndex((transfer) => isMovementOf(step, transfer, addresses));
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}
