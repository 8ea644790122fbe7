import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { refundMessage, withChangedMetadata } from "@wonrail/kit/records";
import { findRefund } from "../store/refunds";
import { type ReadDeps, readAdditions, readRecord, type RecordKey } from "./readRecord";

export async function getRefund(deps: ReadDeps, key: RecordKey): Promise<message.Refund> {
  const refund = await readRecord(deps, key, { pick: (records) => records.refund, find: findRefund });
  if (!refund) throw new DomainError("CHG_002");
  const { settled, changed } = await readAdditions(deps, key.orgId, [key.id]);
  return refundMessage(withChangedMetadata({ refund }, changed).refund, settled);
}
