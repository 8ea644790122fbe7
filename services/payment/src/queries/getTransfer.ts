import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { transferMessage, withChangedMetadata } from "@wonrail/kit/records";
import { findTransfer } from "../store/transfers";
import { type ReadDeps, readAdditions, readRecord, type RecordKey } from "./readRecord";

export async function getTransfer(deps: ReadDeps, key: RecordKey): Promise<message.Transfer> {
  const transfer = await readRecord(deps, key, {
    pick: (records) => (records.transfer?.transferId === key.id ? records.transfer : undefined),
    find: findTransfer,
  });
  if (!transfer) throw new DomainError("TRF_005");
  const { settled, changed } = await readAdditions(deps, key.orgId, [key.id]);
  return transferMessage(withChangedMetadata({ transfer }, changed).transfer, settled);
}
