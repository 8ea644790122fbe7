import { type OperationName } from "../history";
import { type Reader } from "./api";
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

/** Every acknowledged object is in its list and answers a read, with the facts of the answer. */
export async function checkAcknowledged(operations: Operation[], reader: Reader): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const [name, kind] of Object.entries(KINDS) as [OperationName, Kind][]) {
    const acknowledged = successesOf(operations, name);
    if (acknowledged.length === 0) continue;
    const listed = new Map((await reader.list(kind.list)).map((item) => [item[kind.id], item]));
    for (const [index, { operation, data }] of acknowledged.entries()) {
      const id = data[kind.id];
      violations.push(...compare(operation, kind, data, listed.get(id), "list"));
      if (index % READ_ONE_OF > 0) continue;
      violations.push(...compare(operation, kind, data, await reader.get(`${kind.list}/${id}`), "read"));
    }
  }
  return [...violations, ...(await checkParts(operations, reader))];
}

function compare(operation: Operation, kind: Kind, said: Json, found: Json, by: string): Violation[] {
  const report = (message: string) => [violation(operation, `${operation.name} ${said[kind.id]} ${message}`)];
  if (!found) return report(`was acknowledged and is in no ${by}`);
  const changed = kind.constant.filter((field) => !isSameJson(said[field], found[field]));
  return changed.length === 0 ? [] : report(`has another ${changed.join(", ")} in its ${by}`);
}

/** Cancellations and refunds of parts are in the object that they belong to. */
async function checkParts(operations: Operation[], reader: Reader): Promise<Violation[]> {
  const violations: Violation[] = [];
  const cancelled = groupBy(successesOf(operations, "charge.cancel"), ({ data }) => data.chargeId);
  for (const [chargeId, parts] of cancelled) {
    const charge = await reader.get(`/api/wallets/charge/${chargeId}`);
    const shown = new Set(charge?.cancellations.map(({ cancelId }: Json) => cancelId));
    const least = Math.max(...parts.map(({ data }) => data.cancelledAmount));
    for (const { operation, data } of parts)
      if (!shown.has(data.cancelId))
        violations.push(violation(operation, `${data.cancelId} is not in its charge`));
    if (!(charge?.cancelledAmount >= least))
      violations.push(violation(parts[0]!.operation, `${chargeId} has less cancelled than was acknowledged`));
  }
  for (const { operation, data } of successesOf(operations, "payment.cancel", "payment.refund")) {
    const payment = await reader.get(`/api/wallets/payment/${data.paymentId}`);
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
