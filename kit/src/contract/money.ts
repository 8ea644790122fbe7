import { DomainError } from "./errors";

declare const wonBrand: unique symbol;

/** Whole KRW. Always a bigint inside, a decimal string between services, an integer only in the public API. */
export type Won = bigint & { readonly [wonBrand]: true };

export const ZERO_WON = 0n as Won;

/**
 * The largest amount of one movement: exact as a JSON number, and far below the bigint column's
 * limit.
 */
export const MAX_WON = 9_007_199_254_740_991n as Won;

const DECIMAL = /^(0|[1-9][0-9]{0,15})$/;

/** Token units per KRW: six decimals. Used only at the chain's edge. */
export const TOKEN_UNITS_PER_WON = 1_000_000n;

export function won(amount: bigint): Won {
  return amount as Won;
}

/**
 * Reads a decimal string from another service. Anything but digits of a sane length is a REQ_001
 * with the field's name.
 */
export function parseWon(text: string, path: string): Won {
  if (!DECIMAL.test(text)) {
    throw new DomainError("REQ_001", {
      fields: [{ path, message: "must be a decimal string of whole KRW" }],
    });
  }
  const amount = BigInt(text);
  if (amount > MAX_WON) {
    throw new DomainError("REQ_001", { fields: [{ path, message: `must be at most ${MAX_WON}` }] });
  }
  return amount as Won;
}

export function formatWon(amount: Won): string {
  return amount.toString();
}

/** The public API's form. Refuses amounts that a JSON number cannot carry exactly. */
export function wonToJson(amount: Won): number {
  if (amount > MAX_WON || amount < 0n - MAX_WON) throw new Error("amount does not fit a JSON integer");
  return Number(amount);
}

export function sumWon(amounts: Iterable<Won>): Won {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return total as Won;
}

/** floor(amount × basis points / 10,000): accruals always round to the organisation's favour. */
export function basisPointsOf(amount: Won, rateBps: number): Won {
  return ((amount * BigInt(rateBps)) / 10_000n) as Won;
}

export function wonToTokenUnits(amount: Won): bigint {
  return amount * TOKEN_UNITS_PER_WON;
}
