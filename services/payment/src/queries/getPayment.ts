import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { paymentMessage, settledIdsOf, withChangedMetadata } from "@wonrail/kit/records";
import { findPayment } from "../store/payments";
import { type ReadDeps, readAdditions, readRecord, type RecordKey } from "./readRecord";

export async function getPayment(deps: ReadDeps, key: RecordKey): Promise<message.Payment> {
  const payment = await readRecord(deps, key, {
    pick: (records) => (records.payment?.paymentId === key.id ? records.payment : undefined),
    find: findPayment,
  });
  if (!payment) throw new DomainError("PAY_004");
  const { settled, changed } = await readAdditions(deps, key.orgId, settledIdsOf(payment));
  return paymentMessage(withChangedMetadata({ payment }, changed).payment, settled);
}
