import { MAX_WON, TOKEN_UNITS_PER_WON } from "@wonrail/kit/contract/money";
import { bookingOf, transferKindOf, type Transfer } from "./deposits";

const OUTSIDE: Transfer = { fromOurs: false, fromNobody: false, leg: null, operation: null };
const MINT = { ...OUTSIDE, fromNobody: true };
const FROM_US = { ...OUTSIDE, fromOurs: true };

test("tokens from an outside address are a deposit, also beside a batch of ours in one transaction", () => {
  expect(transferKindOf(OUTSIDE)).toBe("deposit");
  expect(transferKindOf({ ...OUTSIDE, operation: "known" })).toBe("deposit");
});

test("a known leg is ours, whoever submitted the authorization", () => {
  expect(transferKindOf({ ...FROM_US, leg: "entry" })).toBe("ours");
});

test("a payout to an address that belongs to a wallet is a deposit", () => {
  expect(transferKindOf({ ...FROM_US, leg: "hold" })).toBe("deposit");
});

test("a mint of a known operation is ours, and another minter's is a deposit", () => {
  expect(transferKindOf({ ...MINT, operation: "known" })).toBe("ours");
  expect(transferKindOf(MINT)).toBe("deposit");
});

test("a transfer by our own keys or contract without a known operation is never credited", () => {
  expect(transferKindOf(FROM_US)).toBe("unknown");
  expect(transferKindOf({ ...MINT, operation: "unknown" })).toBe("unknown");
});

test.each([
  [1n, "DUST", 0n],
  [999_999n, "DUST", 0n],
  [1_000_000n, "SEEN", 1n],
  [2_999_999n, "SEEN", 2n],
  [MAX_WON * TOKEN_UNITS_PER_WON, "SEEN", MAX_WON],
  [(MAX_WON + 1n) * TOKEN_UNITS_PER_WON, "TOO_LARGE", 0n],
])("%p units are booked as whole KRW: %p %p", (units, state, amountWon) => {
  expect(bookingOf(units)).toEqual({ state, amountWon });
});
