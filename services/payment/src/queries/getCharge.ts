import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { chargeMessage, chargeCancellationMessage } from "../messages";
import { findCharge, listChargeCancels } from "../store/charges";
import { findSettlements } from "../store/settlements";

/** The charge and its cancellations as of one moment: their sum is what the charge says is cancelled. */
export function getCharge(
  { db, network }: { db: Database; network: string },
  { orgId, id }: { orgId: string; id: string },
): Promise<{ charge: message.Charge; cancellations: message.ChargeCancellation[] }> {
  return tx(db, read, { isolation: "repeatable read", readOnly: true });

  async function read(tx: Tx) {
    const [charge, cancels] = await Promise.all([
      findCharge(tx, orgId, id),
      listChargeCancels(tx, orgId, id),
    ]);
    if (!charge) throw new DomainError("CHG_002");
    const settlements = await findSettlements(tx, orgId, [id, ...cancels.map(({ cancelId }) => cancelId)]);
    return {
      charge: chargeMessage(charge, network, settlements.get(id)),
      cancellations: cancels.map((cancel) =>
        chargeCancellationMessage(cancel, network, settlements.get(cancel.cancelId)),
      ),
    };
  }
}
