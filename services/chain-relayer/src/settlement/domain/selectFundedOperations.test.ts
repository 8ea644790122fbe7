import { won } from "@wonrail/kit/contract/money";
import { selectFundedOperations } from "./selectFundedOperations";
import { type Step } from "./steps";

function move(from: string | null, to: string | null, amount: bigint): Step {
  const outside = to === null ? `0x${"a".repeat(40)}` : null;
  return {
    kind: "TRANSFER",
    fromWalletId: from,
    toWalletId: to,
    toAddress: outside,
    amountWon: won(amount),
    nonce: "",
  };
}

test("an operation that its wallet cannot pay for waits, and leaves the balance to those behind it", () => {
  const dear = { steps: [move("wal_a", "wal_b", 100n)] };
  const cheap = { steps: [move("wal_a", null, 40n)] };
  expect(selectFundedOperations([dear, cheap], new Map([["wal_a", 50n]]))).toEqual(new Set([cheap]));
});

test("an operation can spend money that an earlier operation brings, and no money twice", () => {
  const first = { steps: [move("wal_a", "wal_b", 50n)] };
  const second = { steps: [move("wal_b", null, 50n)] };
  const third = { steps: [move("wal_a", null, 1n)] };
  const balances = new Map([["wal_a", 50n]]);
  expect(selectFundedOperations([first, second, third], balances)).toEqual(new Set([first, second]));
  expect(balances.get("wal_a")).toBe(50n);
});

test("a mint needs no money, and brings some to its wallet", () => {
  const mint = { steps: [move(null, "wal_a", 5n)] };
  const transfer = { steps: [move("wal_a", null, 5n)] };
  expect(selectFundedOperations([mint, transfer], new Map())).toEqual(new Set([mint, transfer]));
});

test("an operation can spend money that its own steps bring", () => {
  const operation = { steps: [move("wal_a", "wal_b", 5n), move("wal_b", null, 5n)] };
  expect(selectFundedOperations([operation], new Map([["wal_a", 5n]]))).toEqual(new Set([operation]));
  expect(selectFundedOperations([operation], new Map())).toEqual(new Set());
});
