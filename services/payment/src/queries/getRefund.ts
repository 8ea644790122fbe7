import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { refundMessage } from "../messages";
import { findRefund } from "../store/refunds";
import { findSettlements } from "../store/settlements";

export async function getRefund(
  { db, network }: { db: Database; network: string },
  { orgId, id }: { orgId: string; id: string },
): Promise<message.Refund> {
  const refund = await findRefund(db, orgId, id);
  if (!refund) throw new DomainError("CHG_002");
  const settlements = await findSettlements(db, orgId, [id]);
  return refundMessage(refund, network, settlements.get(id));
}
