import { type OperationName } from "../history";
import { type PublicReads } from "./api";
import { isSameJson } from "./isSameJson";
import { successesOf, type Json, type Operation } from "./operations";
import { type Violation } from "./violation";

/** The list that has the objects of a call, the object's id, and the fields that never change. */
interface Kind {
  list: string;
  id: string;
  constant: string[];
}

const NOTES = ["memo", "reference", "createdAt"];
const KINDS: Partial<Record<OperationName, Kind>> = {
  charge: {
    list: "/api/wallets/charge",
    id: "chargeId",
    constant: ["walletId", "amount", "cancellableUntil", ...NOTES],
  },
  refund: { list: "/api/wallets/charge/refund", id: "refundId", constant: ["walletId", "amount", ...NOTES] },
  transfer: {
    list: "/api/wallets/transfer",
    id: "transferId",
    constant: ["fromWalletId", "toWalletAddress", "toWalletId", "amount", ...NOTES],
  },
  payment: {
    list: "/api/wallets/payment",
    id: "paymentId",
    constant: ["payerWalletId", "receiverWalletId", "amount", "breakdown", "incentiveAccrued", ...NOTES],
  },
  "wallet.create": {
    list: "/api/wallets",
    id: "walletId",
    constant: ["userId", "walletType", "walletAddress", "createdAt"],
  },
  "record.create": {
    list: "/api/transaction",
    id: "id",
    constant: ["fromAddress", "toAddress", "amount", "paymentType", ...NOTES],
  },
};
/** Every so many objects of a kind are read one by one too. */
const READ_ONE_OF = 20;

/** The paths of the public API that the check of these operations reads. */
export function readsNeeded(operations: Operation[]): { lists: string[]; objects: string[] } {
  const lists: string[] = [];
  const objects = new Set<string>();
  for (const [name, { list, id }] of KIND_LIST) {
    const acknowledged = successesOf(operations, name);
    if (acknowledged.length > 0) lists.push(list);
    for (const [index, { data }] of acknowledged.entries())
      if (isReadAlone(index)) objects.add(`${list}/${data[id]}`);
  }
  for (const { data } of successesOf(operations, "charge.cancel")) objects.add(chargePath(data.chargeId));
  for (const { data } of successesOf(operations, ...PARTS_OF_PAYMENT))
    objects.add(paymentPath(data.paymentId));
  return { lists, objects: [...objects] };
}

/** Every acknowledged object is in its list and answers a read, with the facts of the answer. */
export function checkAcknowledged(operations: Operation[], { lists, objects }: PublicReads): Violation[] {
  const violations: Violation[] = [];
  for (const [name, kind] of KIND_LIST) {
    const acknowledged = successesOf(operations, name);
    if (acknowledged.length === 0) continue;
    const listed = new Map(answerOf(lists, kind.list).map((item) => [item[kind.id], item]));
    for (const [index, { operation, data }] of acknowledged.entries()) {
      const id = data[kind.id];
      violations.push(...compare(operation, kind, data, listed.get(id), "list"));
      if (isReadAlone(index))
        violations.push(...compare(operation, kind, data, answerOf(objects, `${kind.list}/${id}`), "read"));
    }
  }
  return [...violations, ...checkParts(operations, objects)];
}

const PARTS_OF_PAYMENT = ["payment.cancel", "payment.refund"] as const;
const KIND_LIST = Object.entries(KINDS) as [OperationName, Kind][];

function isReadAlone(index: number): boolean {
  return index % READ_ONE_OF === 0;
}

function chargePath(chargeId: string): string {
  return `/api/wallets/charge/${chargeId}`;
}

function paymentPath(paymentId: string): string {
  return `/api/wallets/payment/${paymentId}`;
}

/** An answer that is not stored says nothing about the product. */
function answerOf<T>(answers: Record<string, T>, path: string): T {
  if (!(path in answers)) throw new Error(`the facts have no answer to GET ${path}`);
  return answers[path]!;
}

function compare(operation: Operation, kind: Kind, said: Json, found: Json, by: string): Violation[] {
  const report = (message: string) => [violation(operation, `${operation.name} ${said[kind.id]} ${message}`)];
  if (!found) return report(`was acknowledged and is in no ${by}`);
  const changed = kind.constant.filter((field) => !isSameJson(said[field], found[field]));
  return changed.length === 0 ? [] : report(`has another ${changed.join(", ")} in its ${by}`);
}

/** Cancellations and refunds of parts are in the object that they belong to. */
function checkParts(operations: Operation[], objects: PublicReads["objects"]): Violation[] {
  const violations: Violation[] = [];
  const cancelled = groupBy(successesOf(operations, "charge.cancel"), ({ data }) => data.chargeId);
  for (const [chargeId, parts] of cancelled) {
    const charge = answerOf(objects, chargePath(chargeId));
    const shown = new Set(charge?.cancellations.map(({ cancelId }: Json) => cancelId));
    const least = Math.max(...parts.map(({ data }) => data.cancelledAmount));
    for (const { operation, data } of parts)
      if (!shown.has(data.cancelId))
        violations.push(violation(operation, `${data.cancelId} is not in its charge`));
    if (!(charge?.cancelledAmount >= least))
      violations.push(violation(parts[0]!.operation, `${chargeId} has less cancelled than was acknowledged`));
  }
  for (const { operation, data } of successesOf(operations, ...PARTS_OF_PAYMENT)) {
    const payment = answerOf(objects, paymentPath(data.paymentId));
    const parts = [
      payment?.cancellation?.cancelId,
      ...(payment?.refunds ?? []).map(({ refundId }: Json) => refundId),
    ];
    const id = data.cancelId ?? data.refundId;
    if (!parts.includes(id)) violations.push(violation(operation, `${id} is not in its payment`));
  }
  return violations;
}

function groupBy<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function violation({ id, organisation }: Operation, message: string): Violation {
  return { check: "acknowledged", organisation, message, operations: [id] };
}
