import { type Tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { settlementChanged } from "../events";
import { saveSettlements, type SettlementChange } from "../store/settlements";
import { noteSettled } from "../store/transfers";

/** Takes in what chain-relayer says of operations, each time of one state. A word after the last one changes nothing. */
export async function recordSettlements(tx: Tx, changes: SettlementChange[]): Promise<void> {
  // Of several words in one batch the newest is kept, but none replaces the last one: they may come again, and in any order.
  const newest = new Map<string, SettlementChange>();
  for (const change of changes) {
    const key = `${change.orgId}|${change.ledgerRef}`;
    const known = newest.get(key);
    if (!known || known.status === "SUBMITTED") newest.set(key, change);
  }
  const saved = await saveSettlements(tx, [...newest.values()]);
  const settled = saved.filter(
    ({ status, ledgerRef }) => status !== "SUBMITTED" && ledgerRef.startsWith("trf_"),
  );
  if (settled.length > 0) noteSettled(tx, settled);
  await appendEvents(
    tx,
    saved.map((change) => settlementChanged(change, change)),
  );
}
