import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { refundMessage } from "@wonrail/kit/records";
import { findRefund } from "../store/refunds";
import { type ReadDeps, readRecord, readSettlements, type RecordKey } from "./readRecord";

export async function getRefund(deps: ReadDeps, key: RecordKey): Promise<message.Refund> {
  const refund = await readRecord(deps, key, { pick: (records) => records.refund, find: findRefund });
  if (!refund) throw new DomainError("CHG_002");
  return refundMessage(refund, await readSettlements(deps, key.orgId, [key.id]));
}
