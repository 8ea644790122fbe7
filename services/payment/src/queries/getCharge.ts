import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { chargeMessage, chargeCancellationMessage } from "../messages";
import { findCharge, listChargeCancels } from "../store/charges";
import { findSettlements } from "../store/settlements";

export async function getCharge(
  { db, network }: { db: Database; network: string },
  { orgId, id }: { orgId: string; id: string },
): Promise<{ charge: message.Charge; cancellations: message.ChargeCancellation[] }> {
  const [charge, cancels] = await Promise.all([findCharge(db, orgId, id), listChargeCancels(db, orgId, id)]);
  if (!charge) throw new DomainError("CHG_002");
  const settlements = await findSettlements(db, orgId, [id, ...cancels.map(({ cancelId }) => cancelId)]);
  return {
    charge: chargeMessage(charge, network, settlements.get(id)),
    cancellations: cancels.map((cancel) =>
      chargeCancellationMessage(cancel, network, settlements.get(cancel.cancelId)),
    ),
  };
}
