import type { TransactionType } from "./types";

/** In the order of the contract's enum, whose position the database stores. Only append to it. */
export const TRANSACTION_TYPES: readonly TransactionType[] = [
  "TRANSFER",
  "CHARGE",
  "CHARGE_CANCEL",
  "PAYMENT",
  "PAYMENT_CANCEL",
  "REFUND",
  "INCENTIVE",
  "INCENTIVE_USE",
  "INCENTIVE_CANCEL",
  "INCENTIVE_USE_CANCEL",
];

const bits = new Map(TRANSACTION_TYPES.map((type, index) => [type, 1 << index]));

/** A set of types as bits of one small integer. */
export function typeBit(type: TransactionType): number {
  return bits.get(type)!;
}

export function typesOf(set: number): TransactionType[] {
  return TRANSACTION_TYPES.filter((type) => (set & typeBit(type)) !== 0);
}
