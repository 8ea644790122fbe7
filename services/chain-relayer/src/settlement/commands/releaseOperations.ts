import { type Tx } from "@wonrail/kit/db";
import { type ReleaseReason } from "../../sender";
import { listInFlightOf, replanOperations } from "../store/operations";

const RETRY_MS = 1_000;
/** Each refusal of a transaction's cost spends the gas of an empty transaction. */
const RETRY_COST_MS = 30_000;

/** Plans the operations of a transaction again: the sender no longer carries them. */
export async function releaseOperations(tx: Tx, transactionId: bigint, reason: ReleaseReason): Promise<void> {
  const delayMs = reason === "cost_too_high" ? RETRY_COST_MS : RETRY_MS;
  await replanOperations(tx, await listInFlightOf(tx, transactionId), reason, delayMs);
}
