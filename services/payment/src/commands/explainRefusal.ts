import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { toErrorDetail } from "@wonrail/kit/grpc/server";
import { type ErrorDetail } from "@wonrail/proto/common/v1/common";
import { cancellableUntil, chargeStatus } from "@wonrail/kit/records";
import { findCharge } from "../store/charges";
import { findPayment } from "../store/payments";
import { type Command } from "./readCommand";

/**
 * The ledger refuses to cancel entries of detached months as unknown. The records are older, so
 * they can explain the refusal.
 */
export async function explainRefusal(
  { db }: { db: Database },
  orgId: string,
  command: Command,
  refused: ErrorDetail,
): Promise<ErrorDetail> {
  if (command.$case === "cancelCharge" && refused.code === "CHG_002") {
    const { chargeId } = command.value;
    const charge = await findCharge(db, orgId, chargeId);
    if (!charge) return refused;
    if (chargeStatus(charge) === "CANCELLED") return toErrorDetail(new DomainError("CHG_003", { chargeId }));
    return new Date() > cancellableUntil(charge) ? toErrorDetail(new DomainError("CHG_004")) : refused;
  }
  const isReturn = command.$case === "cancelPayment" || command.$case === "refundPayment";
  if (isReturn && refused.code === "PAY_004") {
    const { paymentId } = command.value;
    const payment = await findPayment(db, orgId, paymentId);
    if (!payment) return refused;
    return toErrorDetail(
      payment.cancel === null ? new DomainError("PAY_007") : new DomainError("PAY_003", { paymentId }),
    );
  }
  return refused;
}
