import { type Tx } from "@wonrail/kit/db";
import { saveSettlements, type SettlementChange } from "../store/settlements";
import { markSettled } from "../store/transfers";

/** Writes the newest change of each operation, in one statement. Changes may repeat and come in any order. */
export async function projectSettlements(tx: Tx, changes: SettlementChange[]): Promise<void> {
  const newest = new Map<string, SettlementChange>();
  for (const change of changes) {
    const key = `${change.orgId}|${change.ledgerRef}`;
    const known = newest.get(key);
    if (!known || isNewer(change, known)) newest.set(key, change);
  }
  const saved = await saveSettlements(tx, [...newest.values()]);
  const final = saved.filter(
    ({ status, ledgerRef }) => status !== "SUBMITTED" && ledgerRef.startsWith("trf_"),
  );
  if (final.length > 0) markSettled(tx, final);
}

/** The time of the changes decides when their versions are equal. */
function isNewer(one: SettlementChange, other: SettlementChange): boolean {
  return one.version === other.version ? one.changedAt > other.changedAt : one.version > other.version;
}
