import { invalidFields } from "../internal/checks.ts";

/** Decimals of the won token: 1 KRW is 1000000 of its smallest units. */
export const DEFAULT_DECIMALS = 6;
const MAX_DECIMALS = 36;
const MAX_DIGITS = 78;

/**
 * Converts an amount to the token's smallest unit: `toUnits("1.0")` is `"1000000"`. The result is
 * exact. More decimals than the token has are refused.
 */
export function toUnits(amount: string | bigint, decimals: number = DEFAULT_DECIMALS): string {
  checkDecimals(decimals);
  const [, whole, fraction = ""] = /^([0-9]{1,78})(?:\.([0-9]{1,78}))?$/.exec(String(amount)) ?? [];
  if (typeof amount === "number" || whole === undefined)
    throw invalidAmount("amount", 'must be a string of digits with at most one point, such as "1.0"');
  const significant = fraction.replace(/0+$/, "");
  if (significant.length > decimals) throw invalidAmount("amount", `must have at most ${decimals} decimals`);
  const units = BigInt(whole + significant.padEnd(decimals, "0")).toString();
  if (units.length > MAX_DIGITS) throw invalidAmount("amount", `must have at most ${MAX_DIGITS} digits`);
  return units;
}

/** Formats smallest units for display: `formatUnits("1500000")` is `"1.5"`. Exact, without trailing zeros. */
export function formatUnits(units: string | bigint, decimals: number = DEFAULT_DECIMALS): string {
  checkDecimals(decimals);
  const text = String(units);
  if (typeof units === "number" || !/^(0|[1-9][0-9]{0,77})$/.test(text))
    throw invalidAmount("units", "must be a whole number in digits, without sign, point or leading zeros");
  const digits = text.padStart(decimals + 1, "0");
  const cut = digits.length - decimals;
  const fraction = digits.slice(cut).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, cut) : `${digits.slice(0, cut)}.${fraction}`;
}

function checkDecimals(decimals: number): void {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > MAX_DECIMALS)
    throw invalidAmount("decimals", `must be a whole number from 0 to ${MAX_DECIMALS}`);
}

function invalidAmount(path: string, message: string) {
  return invalidFields([{ path, message }]);
}
