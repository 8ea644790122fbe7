import { type OperationName } from "../history";
import { type EntryKind } from "./journal/readJournal";

/** The calls that the ledger decides: their scope of keys, the entries they make, and the id in the answer. */
export const MONEY_CALLS = {
  charge: { scope: "CHARGE", kinds: ["charge"], id: "chargeId" },
  "charge.cancel": { scope: "CANCEL_CHARGE", kinds: ["cancelCharge"], id: "cancelId" },
  refund: { scope: "REFUND", kinds: ["refund"], id: "refundId" },
  transfer: { scope: "TRANSFER", kinds: ["transfer", "placeHold"], id: "transferId" },
  payment: { scope: "PAY", kinds: ["payment"], id: "paymentId" },
  "payment.cancel": { scope: "CANCEL_PAYMENT", kinds: ["cancelPayment"], id: "cancelId" },
  "payment.refund": { scope: "REFUND_PAYMENT", kinds: ["refundPayment"], id: "refundId" },
} satisfies Partial<Record<OperationName, MoneyCall>>;

export interface MoneyCall {
  scope: string;
  kinds: EntryKind[];
  id: string;
}

export function moneyCallOf(name: OperationName): MoneyCall | undefined {
  return (MONEY_CALLS as Partial<Record<OperationName, MoneyCall>>)[name];
}
