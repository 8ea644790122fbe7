import { type Tx } from "@wonrail/kit/db";
import { type FinalRange, usesIn } from "../../indexer";
import { confirmUsedPayments } from "../store/payments";

/** Confirms payments whose authorization was used in final blocks, by whichever transaction. */
export async function applyUses(tx: Tx, range: FinalRange): Promise<void> {
  const uses = usesIn(range)
    // Payers of x402 are never our wallets, whose own uses are many.
    .filter(({ authorizer }) => !range.owners.has(authorizer))
    .map(({ authorizer, nonce, log, moved }) => ({ payer: authorizer, nonce, txHash: log.txHash, moved }));
  if (uses.length > 0) await confirmUsedPayments(tx, uses);
}
