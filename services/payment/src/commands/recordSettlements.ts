import { type Tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { settlementChanged } from "../events";
import { saveSettlements, type SettlementChange } from "../store/settlements";
import { noteSettled } from "../store/transfers";

/** Takes in what chain-relayer says of operations, each time of one state. A word after the last one changes nothing. */
export async function recordSettlements(tx: Tx, changes: SettlementChange[]): Promise<void> {
  // The same said twice in one batch: the newest word is the one to keep.
  const newest = new Map(changes.map((change) => [`${change.orgId}|${change.ledgerRef}`, change]));
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
