import {
  type ChangedMetadata,
  chargeCancellationJson,
  chargeCancellationMessage,
  chargeJson,
  chargeMessage,
  paymentJson,
  paymentMessage,
  paymentRefundJson,
  paymentRefundMessage,
  type Records,
  recordsOf,
  refundJson,
  refundMessage,
  type Settled,
  transferJson,
  transferMessage,
  withChangedMetadata,
} from "@wonrail/kit/records";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import { type Change, type ObjectData, type ObjectState } from "./change";
import { type EventType } from "@wonrail/kit/contract/eventTypes";
import { settledIn } from "./settlements";

/** An entry of the ledger's journal, as the ledger told of it. */
export interface JournalEntry {
  orgId: string;
  sourceId: string;
  entry: Entry;
}

/** A read of a charge or payment answers its newest cancellations or refunds. */
const MAX_PARTS = 100;

const TYPES_OF_KIND: Partial<Record<IntentKind, readonly EventType[]>> = {
  [IntentKind.TRANSFER]: ["transfer.created", "transfer.completed"],
  [IntentKind.PLACE_HOLD]: ["transfer.created"],
  [IntentKind.POST_HOLD]: ["transfer.completed"],
  [IntentKind.VOID_HOLD]: ["transfer.failed"],
  [IntentKind.CHARGE]: ["charge.created"],
  [IntentKind.CANCEL_CHARGE]: ["charge.cancelled"],
  [IntentKind.REFUND]: ["refund.created"],
  [IntentKind.PAYMENT]: ["payment.created"],
  [IntentKind.CANCEL_PAYMENT]: ["payment.cancelled"],
  [IntentKind.REFUND_PAYMENT]: ["payment.refunded"],
};

/** The change of an entry's object; undefined for entries that no object shows. */
export function changeOfEntry(
  { orgId, sourceId, entry }: JournalEntry,
  network: string,
  changed: ChangedMetadata,
): Change | undefined {
  const types = TYPES_OF_KIND[entry.kind];
  if (!types) return undefined;
  const records = withChangedMetadata(recordsOf(orgId, entry), changed);
  return {
    ...{
      orgId,
      objectId: objectIdOf(records),
      sourceId,
      occurredAt: entry.postedAt!,
      types,
      ledgerRef: entry.requestId,
    },
    apply: (state) => ({
      data: dataOf(records, settledIn(state, network), state),
      failureReason: state?.failureReason ?? null,
    }),
  };
}

/** The cancellation or refund that an entry made, and the charge or payment that it belongs to. */
export function cancellationOf({
  ledgerRef,
  objectId,
}: Change): { cancelId: string; objectId: string } | undefined {
  if (ledgerRef === undefined || !/^(ccl|pcl|prf)_/.test(ledgerRef)) return undefined;
  return { cancelId: ledgerRef, objectId };
}

function objectIdOf({ transfer, charge, refund, payment }: Records): string {
  return transfer?.transferId ?? charge?.chargeId ?? refund?.refundId ?? payment!.paymentId;
}

function dataOf(
  { transfer, charge, chargeCancel, refund, payment, paymentRefund }: Records,
  settled: Settled,
  state: ObjectState | undefined,
): ObjectData {
  if (transfer) return transferJson(transferMessage(transfer, settled));
  if (refund) return refundJson(refundMessage(refund, settled));
  if (payment) {
    const added = paymentRefund && paymentRefundJson(paymentRefundMessage(paymentRefund, settled));
    return {
      ...paymentJson(paymentMessage(payment, settled)),
      refunds: withPart(state?.data.refunds, added),
    };
  }
  const added = chargeCancel && chargeCancellationJson(chargeCancellationMessage(chargeCancel, settled));
  return {
    ...chargeJson(chargeMessage(charge!, settled)),
    cancellations: withPart(state?.data.cancellations, added),
  };
}

function withPart(before: unknown, added: ObjectData | undefined): ObjectData[] {
  const parts = (before as ObjectData[] | undefined) ?? [];
  return added ? [...parts, added].slice(-MAX_PARTS) : parts;
}
