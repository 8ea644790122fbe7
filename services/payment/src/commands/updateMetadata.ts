import { invalidRequest } from "@wonrail/kit/contract/errors";
import { prefixOf } from "@wonrail/kit/contract/ids";
import { changeMetadata, isSameMetadata, type MetadataChange } from "@wonrail/kit/contract/notes";
import { tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { type UpdateMetadataResponse } from "@wonrail/proto/payment/v1/payment";
import { metadataChanged } from "../events";
import { getChargeCancellation, getPaymentCancellation, getPaymentRefund } from "../queries/getCancellation";
import { getCharge } from "../queries/getCharge";
import { getPayment } from "../queries/getPayment";
import { getRefund } from "../queries/getRefund";
import { getTransfer } from "../queries/getTransfer";
import { type ReadDeps, type RecordKey } from "../queries/readRecord";
import { lockMetadata, saveMetadata } from "../store/changedMetadata";

type Metadata = Record<string, string>;

/** An object as it is, and as it is with other metadata. */
interface Found {
  metadata: Metadata;
  withMetadata: (metadata: Metadata) => UpdateMetadataResponse;
}

/**
 * Changes the metadata of one object. The ledger entry of its command stays as it is. Two changes at the
 * same time are serialised by the row's lock, so neither loses a pair of the other.
 */
export async function updateMetadata(
  deps: ReadDeps,
  { set, remove, ...key }: RecordKey & MetadataChange,
): Promise<UpdateMetadataResponse> {
  const found = await readObject(deps, key);
  const changed = await tx(deps.db, async (tx) => {
    const before = await lockMetadata(tx, key.orgId, key.id, found.metadata);
    const metadata = changeMetadata(before.metadata, { set, remove });
    if (isSameMetadata(before.metadata, metadata)) return metadata;
    const after = { metadata, version: before.version + 1n };
    await saveMetadata(tx, key.orgId, key.id, after);
    await appendEvents(tx, [metadataChanged(key.orgId, key.id, after)]);
    return after.metadata;
  });
  return found.withMetadata(changed);
}

async function readObject(deps: ReadDeps, key: RecordKey): Promise<Found> {
  switch (prefixOf(key.id)) {
    case "trf":
      return foundObject("transfer", await getTransfer(deps, key));
    case "rfd":
      return foundObject("refund", await getRefund(deps, key));
    case "pay":
      return foundObject("payment", (await getPayment(deps, key)).payment);
    case "ccl":
      return foundObject("chargeCancellation", await getChargeCancellation(deps, key));
    case "pcl":
      return foundObject("paymentCancellation", await getPaymentCancellation(deps, key));
    case "prf":
      return foundObject("paymentRefund", await getPaymentRefund(deps, key));
    case "chg": {
      const { charge, cancellations } = await getCharge(deps, key);
      const withMetadata = (metadata: Metadata): UpdateMetadataResponse => ({
        object: { $case: "charge", value: { charge: { ...charge, metadata }, cancellations } },
      });
      return { metadata: charge.metadata, withMetadata };
    }
    default:
      throw invalidRequest([{ path: "id", message: "is no id of an object with metadata" }]);
  }
}

type UpdatedObject = NonNullable<UpdateMetadataResponse["object"]>;

function foundObject<O extends Exclude<UpdatedObject, { $case: "charge" }>>(
  $case: O["$case"],
  value: O["value"] & { metadata: Metadata },
): Found {
  const withMetadata = (metadata: Metadata) => ({
    object: { $case, value: { ...value, metadata } } as UpdatedObject,
  });
  return { metadata: value.metadata, withMetadata };
}
