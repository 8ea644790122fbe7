import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { chargeMessage } from "../messages";
import { findCharge } from "../store/charges";
import { findSettlements } from "../store/settlements";

export async function getCharge(
  { db, network }: { db: Database; network: string },
  { orgId, id }: { orgId: string; id: string },
): Promise<message.Charge> {
  const charge = await findCharge(db, orgId, id);
  if (!charge) throw new DomainError("CHG_002");
  const settlements = await findSettlements(db, orgId, [id]);
  return chargeMessage(charge, network, settlements.get(id));
}
