import { pending, type Settled, type Settlement } from "@wonrail/kit/records";
import { type EventType } from "@wonrail/kit/contract/eventTypes";
import { type Change, type ObjectData, type ObjectState, type SettlementNews } from "./change";

interface SettlementJson {
  status: Settlement["status"];
  network: string;
  txHash: string | null;
  blockNumber: number | null;
}

interface Settleable {
  settlement: SettlementJson;
}

const TYPE_OF_STATUS: Record<SettlementNews["status"], readonly EventType[]> = {
  SUBMITTED: [],
  CONFIRMED: ["settlement.confirmed"],
  FAILED: ["settlement.failed"],
};

/** The object that a ledger reference names; undefined when only the ledger entry can tell. */
export function objectOfRef(ledgerRef: string): string | undefined {
  return /^(ccl|pcl|prf)_/.test(ledgerRef) ? undefined : ledgerRef;
}

export function settlementChange(news: SettlementNews, objectId: string): Change {
  const { orgId, sourceId, occurredAt, status } = news;
  return {
    ...{ orgId, objectId, sourceId, occurredAt, types: TYPE_OF_STATUS[status] },
    settlement: news,
    apply: (state) => state && withSettlement(state, news),
  };
}

/** The settlements that a charge, refund, transfer or payment shows, by ledger reference. */
export function settledIn(state: ObjectState | undefined, network: string): Settled {
  const shown = state ? settleablesOf(state.data) : new Map<string, Settleable>();
  const failureReason = state?.failureReason ?? null;
  return (ledgerRef) => {
    const found = shown.get(ledgerRef)?.settlement;
    if (!found) return pending(network);
    const blockNumber = found.blockNumber === null ? null : BigInt(found.blockNumber);
    return { ...found, blockNumber, failureReason };
  };
}

function withSettlement({ data, failureReason }: ObjectState, news: SettlementNews): ObjectState {
  const { ledgerRef, status, network, txHash, blockNumber } = news;
  const copy = structuredClone(data) as Record<string, unknown>;
  const part = settleablesOf(copy).get(ledgerRef);
  // Submissions and failures come by different partitions, so a submission can come after the end.
  if (status === "SUBMITTED" && part && isFinal(part.settlement.status)) return { data, failureReason };
  if (part) part.settlement = { status, network, txHash, blockNumber };
  const reason = news.failureReason ?? failureReason;
  if (copy.transferId === ledgerRef && copy.status === "FAILED") copy.failureReason = reason;
  return { data: copy, failureReason: reason };
}

function isFinal(status: Settlement["status"]): boolean {
  return status === "CONFIRMED" || status === "FAILED";
}

/** The object itself or its cancellation, by the id that the ledger knows it by. */
export function partOf(data: ObjectData, ledgerRef: string): Record<string, unknown> | undefined {
  return settleablesOf(data).get(ledgerRef) as Record<string, unknown> | undefined;
}

/** The parts of an object that have a settlement of their own: the object and its cancellations. */
function settleablesOf(data: ObjectData): Map<string, Settleable> {
  const { transferId, chargeId, refundId, paymentId, cancellation, cancellations, refunds } = data;
  const parts = new Map<string, Settleable>();
  const ownId = transferId ?? chargeId ?? refundId ?? paymentId;
  if (typeof ownId === "string") parts.set(ownId, data as unknown as Settleable);
  const cancelled = [...((cancellations as Cancelled[] | undefined) ?? []), cancellation as Cancelled | null];
  for (const each of cancelled) if (each) parts.set(each.cancelId, each);
  for (const each of (refunds as Refunded[] | undefined) ?? []) parts.set(each.refundId, each);
  return parts;
}

interface Cancelled extends Settleable {
  cancelId: string;
}

interface Refunded extends Settleable {
  refundId: string;
}
