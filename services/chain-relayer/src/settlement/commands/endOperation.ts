import { type ActingOperator, type ActionEffect, recordOperatorAction } from "@wonrail/kit/admin";
import { sumWon } from "@wonrail/kit/contract/money";
import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { type Provider, tokenOf, type TransferReceipt } from "../../evm";
import { findAddresses, findCursor, listPaymentManagers } from "../../indexer";
import { type Decision } from "../domain/findEndings";
import { isMovementOf } from "../domain/movement";
import { operationIdAnew, walletsOf } from "../domain/steps";
import { operationsConfirmed } from "../events";
import {
  giveUpHold,
  hasSettled,
  lockUndecidedOperation,
  skipBlockedOperation,
  renameOperation,
} from "../store/operatorDecisions";
import { isHold, markConfirmed, type Operation } from "../store/operations";
import { pullAgainFrom } from "../store/settlementQueues";

export interface EndDeps {
  db: Database;
  provider: Pick<Provider, "callAt" | "transferReceipts" | "block">;
  network: string;
}

export interface OperatorDecision {
  decision: Decision;
  /** The transaction that settled the operation elsewhere. */
  txHash: string | null;
  operator: ActingOperator;
}

export type Ending =
  | "done"
  | "another_way"
  | "not_at_a_dead_end"
  | "only_a_hold_is_given_up"
  | "custody_signs_no_other"
  | "no_proof";

/**
 * Ends an operation by an operator's decision, when its name was used by another or custody signed
 * another leg. Settled elsewhere: a final transaction moved exactly its steps. Given up: a hold
 * that is proven unable to settle. Sent anew: under another name. A BLOCKED entry is read again, or
 * passed over and never settled on the chain.
 */
export async function endOperation(
  deps: EndDeps,
  ledgerRef: string,
  decision: OperatorDecision,
): Promise<Ending> {
  // Read before any lock is taken.
  const receipt = decision.txHash === null ? null : await findFinalReceipt(deps, decision.txHash);
  return tx(deps.db, async (tx) => {
    const operation = await lockUndecidedOperation(tx, ledgerRef);
    if (!operation) return "not_at_a_dead_end";
    const ending = await apply(tx, operation, decision, { receipt, network: deps.network });
    const details = { decision: decision.decision, txHash: decision.txHash };
    if (ending === "done")
      await recordOperatorAction(tx, decision.operator, { ...effectOf(operation, decision), details });
    return ending;
  });
}

function effectOf(operation: Operation, { decision, txHash }: OperatorDecision): ActionEffect {
  const { orgId, ledgerRef: subject, steps } = operation;
  const effects: Record<Decision, string> = {
    settled_elsewhere: `Mark ${subject} as settled by the transaction ${txHash}.`,
    give_up: `Give the hold ${subject} up and re-credit its wallet as soon as that is proven safe.`,
    sign_anew: `Send ${subject} to the chain again, under another name.`,
    read_again: `Read the BLOCKED entry ${subject} again and settle it.`,
    pass_over: `Pass over the BLOCKED entry ${subject}: it is never settled on the chain.`,
  };
  const amountWon = sumWon(steps.map((step) => step.amountWon));
  return { orgId, subject, effect: effects[decision], ...(steps.length === 0 ? {} : { amountWon }) };
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
      await skipBlockedOperation(tx, operation);
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
      // The chain lists the old name as executed.
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

/** Each step needs its own transfer in the transaction, which no operation of ours claims. */
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
