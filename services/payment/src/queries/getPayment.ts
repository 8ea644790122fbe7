import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { ledgerRefsOf } from "../domain/payment";
import { paymentMessage } from "../messages";
import { findPayment } from "../store/payments";
import { findSettlements } from "../store/settlements";

export async function getPayment(
  { db, network }: { db: Database; network: string },
  { orgId, id }: { orgId: string; id: string },
): Promise<message.Payment> {
  const payment = await findPayment(db, orgId, id);
  if (!payment) throw new DomainError("PAY_004");
  const settlements = await findSettlements(db, orgId, ledgerRefsOf(payment));
  return paymentMessage(payment, network, settlements);
}
