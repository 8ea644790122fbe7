import { type Tx } from "@wonrail/kit/db";
import { saveSettlements, type SettlementChange } from "../store/settlements";
import { markSettled } from "../store/transfers";

/**
 * Stores the newest change of each operation. Sets `settled_at` of the transfers that the chain has
 * decided. Changes may repeat and come in any order.
 */
export async function projectSettlements(tx: Tx, changes: SettlementChange[]): Promise<void> {
  const newest = new Map<string, SettlementChange>();
  for (const change of changes) {
    const key = `${change.orgId}|${change.ledgerRef}`;
    const previous = newest.get(key);
    if (!previous || isNewer(change, previous)) newest.set(key, change);
  }
  const saved = await saveSettlements(tx, [...newest.values()]);
  const decidedTransfers = saved.filter(
    ({ status, ledgerRef }) => status !== "SUBMITTED" && ledgerRef.startsWith("trf_"),
  );
  if (decidedTransfers.length > 0) markSettled(tx, decidedTransfers);
}

/** Compares by version. If the versions are equal, the later `changedAt` is newer. */
function isNewer(change: SettlementChange, other: SettlementChange): boolean {
  if (change.version !== other.version) return change.version > other.version;
  return change.changedAt > other.changedAt;
}
