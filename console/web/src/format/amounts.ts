const TOKEN_DECIMALS = 6;
const INTEGER = /^-?[0-9]+$/;

/** "1500" is "1,500 KRW". */
export function formatWon(amount: string | undefined): string {
  return amount === undefined ? "—" : `${groupDigits(amount)} KRW`;
}

/** Token units have six decimals: "1500000" is "1.5 WON". */
export function formatTokenUnits(units: string | undefined, symbol = "tokens"): string {
  return units === undefined ? "—" : `${formatDecimals(units, TOKEN_DECIMALS)} ${symbol}`;
}

/** An amount of the chain's coin, with six of its eighteen decimals; less than that in Gwei. */
export function formatWei(wei: string | undefined): string {
  if (wei === undefined) return "—";
  if (!INTEGER.test(wei)) return `${wei} wei`;
  const microcoins = BigInt(wei) / 10n ** 12n;
  return microcoins === 0n && wei !== "0" ? formatGwei(wei) : `${formatDecimals(String(microcoins), 6)} ETH`;
}

/** A price of gas: "2084924512" is "2.084924512 Gwei". */
export function formatGwei(wei: string | undefined): string {
  return wei === undefined ? "—" : `${formatDecimals(wei, 9)} Gwei`;
}

/** "12345 entries" with grouped digits; singular for 1. */
export function formatCount(count: string | number | undefined, one: string, many = `${one}s`): string {
  if (count === undefined) return "—";
  const text = String(count);
  return `${groupDigits(text)} ${text === "1" ? one : many}`;
}

/** 250 is "2.5 %". */
export function formatBasisPoints(bps: number): string {
  return `${bps / 100} %`;
}

/** Text that is no whole number is returned as it is. */
export function groupDigits(digits: string): string {
  return INTEGER.test(digits) ? digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",") : digits;
}

/** Moves the point with string operations, because a number would round. */
function formatDecimals(units: string, decimals: number): string {
  if (!INTEGER.test(units)) return units;
  const negative = units.startsWith("-");
  const digits = units.replace("-", "").padStart(decimals + 1, "0");
  const whole = groupDigits(digits.slice(0, -decimals).replace(/^0+(?=\d)/, ""));
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}
