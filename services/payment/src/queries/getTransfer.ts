import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { transferMessage } from "../messages";
import { findTransfer } from "../store/transfers";
import { findSettlements } from "../store/settlements";

export async function getTransfer(
  { db, network }: { db: Database; network: string },
  { orgId, id }: { orgId: string; id: string },
): Promise<message.Transfer> {
  const transfer = await findTransfer(db, orgId, id);
  if (!transfer) throw new DomainError("TRF_005");
  const settlements = await findSettlements(db, orgId, [id]);
  return transferMessage(transfer, network, settlements.get(id));
}
