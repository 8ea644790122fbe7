import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { won } from "@wonrail/kit/contract/money";
import { type TokenMovement } from "../../evm";
import { findMissingSteps, isMovementOf } from "./movement";
import { type Step } from "./steps";

const addresses = new Map([
  ["wal_a", "0xAA"],
  ["wal_b", "0xBB"],
]);

function step(of: Partial<Step>): Step {
  return {
    ...{ kind: "TRANSFER", fromWalletId: "wal_a", toWalletId: "wal_b", toAddress: null, nonce: "" },
    amountWon: won(5n),
    ...of,
  };
}

function movement(from: string, to: string, units = 5_000_000n): TokenMovement {
  return { from, to, units };
}

const inside = step({});
const mint = step({ kind: "MINT", fromWalletId: null });
const burn = step({ kind: "BURN", toWalletId: null });
const outside = step({ toWalletId: null, toAddress: "0xCC" });
const ofInside = movement("0xaa", "0xbb");
const ofMint = movement(ZERO_ADDRESS, "0xbb");
const ofBurn = movement("0xaa", ZERO_ADDRESS);
const ofOutside = movement("0xaa", "0xcc");
const PAIRS = [
  [inside, ofInside],
  [mint, ofMint],
  [burn, ofBurn],
  [outside, ofOutside],
] as const;

test("a movement belongs to the step with its sender, receiver and amount only", () => {
  for (const [one, own] of PAIRS)
    for (const [, other] of PAIRS) expect(isMovementOf(one, other, addresses)).toBe(own === other);
  expect(isMovementOf(inside, movement("0xaa", "0xbb", 5_000_001n), addresses)).toBe(false);
});

test("a wallet without an address has moved nothing", () => {
  expect(isMovementOf(step({ fromWalletId: "wal_c" }), ofInside, addresses)).toBe(false);
  expect(isMovementOf(step({ toWalletId: "wal_c" }), ofInside, addresses)).toBe(false);
});

test("the missing steps are those without a movement, in the contract's order", () => {
  const steps = [inside, burn, mint];
  const missing = (...movements: TokenMovement[]) => findMissingSteps(steps, movements, addresses);
  expect(missing(ofInside, ofBurn, ofMint)).toEqual([]);
  expect(missing(ofInside, ofMint)).toEqual([burn]);
  expect(missing(ofMint)).toEqual([inside, burn]);
});

test("movements of other steps, in another order, or none at all are no execution of the steps", () => {
  const missing = (...movements: TokenMovement[]) => findMissingSteps([inside, burn], movements, addresses);
  expect(missing()).toBeNull();
  expect(missing(ofOutside)).toBeNull();
  expect(missing(ofInside, ofOutside)).toBeNull();
  expect(missing(ofBurn, ofInside)).toBeNull();
});
