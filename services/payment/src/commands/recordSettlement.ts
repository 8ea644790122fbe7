import { type Tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { settlementChanged } from "../events";
import { saveSettlement, type SettlementChange } from "../store/settlements";

/** Takes in what chain-relayer says of an operation. A word after the last one changes nothing. */
export async function recordSettlement(tx: Tx, change: SettlementChange): Promise<void> {
  if (await saveSettlement(tx, change)) {
    await appendEvents(tx, [settlementChanged(change.orgId, change.ledgerRef, change)]);
  }
}
