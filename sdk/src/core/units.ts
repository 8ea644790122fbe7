import { refusal } from "../internal/checks.ts";

/** Of the won token: 1 KRW is 1000000 of its smallest units. */
export const DEFAULT_DECIMALS = 6;
const MAX_DECIMALS = 36;
const MAX_DIGITS = 78;

/** The amount in the token's smallest unit: `toUnits("1.0")` is `"1000000"`. Exact; more decimals than the token has are refused. */
export function toUnits(amount: string | bigint, decimals: number = DEFAULT_DECIMALS): string {
  checkDecimals(decimals);
  const [, whole, fraction = ""] = /^([0-9]{1,78})(?:\.([0-9]{1,78}))?$/.exec(String(amount)) ?? [];
  if (typeof amount === "number" || whole === undefined)
    throw refused("amount", 'must be a string of digits with at most one point, such as "1.0"');
  const significant = fraction.replace(/0+$/, "");
  if (significant.length > decimals) throw refused("amount", `must have at most ${decimals} decimals`);
  const units = BigInt(whole + significant.padEnd(decimals, "0")).toString();
  if (units.length > MAX_DIGITS) throw refused("amount", `must have at most ${MAX_DIGITS} digits`);
  return units;
}

/** The amount for people: `formatUnits("1500000")` is `"1.5"`. Exact, without trailing zeros. */
export function formatUnits(units: string | bigint, decimals: number = DEFAULT_DECIMALS): string {
  checkDecimals(decimals);
  const text = String(units);
  if (typeof units === "number" || !/^(0|[1-9][0-9]{0,77})$/.test(text))
    throw refused("units", "must be a whole number in digits, without sign, point or leading zeros");
  const digits = text.padStart(decimals + 1, "0");
  const cut = digits.length - decimals;
  const fraction = digits.slice(cut).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, cut) : `${digits.slice(0, cut)}.${fraction}`;
}

function checkDecimals(decimals: number): void {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > MAX_DECIMALS)
    throw refused("decimals", `must be a whole number from 0 to ${MAX_DECIMALS}`);
}

function refused(path: string, message: string) {
  return refusal([{ path, message }]);
}
