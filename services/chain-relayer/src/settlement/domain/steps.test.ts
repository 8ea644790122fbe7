import fc from "fast-check";
import { won } from "@wonrail/kit/contract/money";
import {
  isLeg,
  isWallet,
  type Line,
  operationIdAnew,
  operationIdOf,
  operationIdOfHold,
  stepOfHold,
  stepsOf,
  walletsOf,
} from "./steps";

function line(accountId: string, amount: number, sequence: number): Line {
  return { accountId, amountWon: won(BigInt(amount)), sequence: BigInt(sequence) };
}

function shortly(lines: Line[]) {
  return stepsOf(lines).map(({ kind, fromWalletId, toWalletId, amountWon }) => [
    kind,
    fromWalletId,
    toWalletId,
    Number(amountWon),
  ]);
}

test("a charge is a mint, its cancellation a burn", () => {
  expect(shortly([line("acc_i", -1000, 1), line("wal_a", 1000, 1)])).toEqual([["MINT", null, "wal_a", 1000]]);
  expect(shortly([line("wal_a", -400, 2), line("acc_i", 400, 2)])).toEqual([["BURN", "wal_a", null, 400]]);
});

test("a composite payment is two legs to the receiver and a mint of the accrual", () => {
  const lines = [
    line("wal_incentive", -200, 5),
    line("wal_normal", -1000, 9),
    line("wal_shop", 1200, 700),
    line("acc_incentive", -10, 3),
    line("wal_incentive", 10, 6),
  ];
  expect(shortly(lines)).toEqual([
    ["TRANSFER", "wal_incentive", "wal_shop", 190],
    ["TRANSFER", "wal_normal", "wal_shop", 1000],
    ["MINT", null, "wal_shop", 10],
  ]);
});

test("a cancellation returns money to each wallet and burns the kept part", () => {
  const lines = [
    line("wal_shop", -1200, 701),
    line("wal_normal", 995, 10),
    line("wal_incentive", 195, 7),
    line("acc_incentive", 10, 4),
  ];
  expect(shortly(lines)).toEqual([
    ["TRANSFER", "wal_shop", "wal_normal", 995],
    ["TRANSFER", "wal_shop", "wal_incentive", 195],
    ["BURN", "wal_shop", null, 10],
  ]);
});

test("nonces follow the ledger's numbering and never repeat within a wallet", () => {
  const steps = stepsOf([
    line("wal_shop", -3, 701),
    line("wal_a", 1, 1),
    line("wal_b", 1, 1),
    line("acc_x", 1, 1),
  ]);
  const nonces = [5608, 5609, 5610].map((number) => number.toString(16).padStart(64, "0"));
  expect(steps.map(({ nonce }) => nonce)).toEqual(nonces);
});

test("operation ids of neighbours on the busiest account share a bitmap word", () => {
  const name = (sequence: number) => operationIdOf([line("wal_a", -1, 3), line("wal_shop", 1, sequence)]);
  expect(name(1000).slice(0, 62)).toBe(name(1001).slice(0, 62));
  expect(name(1000)).not.toBe(name(1001));
  expect(name(1023).slice(0, 62)).not.toBe(name(1024).slice(0, 62));
});

test("the name comes from the line with the highest sequence, then the lowest account", () => {
  const lines = [line("wal_a", -5, 6), line("wal_b", 2, 7), line("wal_c", 3, 7)];
  for (const ordered of [lines, [...lines].reverse()])
    expect(operationIdOf(ordered)).toBe(operationIdOf([line("wal_b", 2, 7)]));
  expect(operationIdOf(lines)).toMatch(/^[0-9a-f]{62}07$/);
});

test("a hold goes to an outside address under its own nonce", () => {
  const hold = { holdRequestId: "trf_1", walletId: "wal_a", toAddress: "0xabc", amountWon: won(5n) };
  expect(stepOfHold(hold)).toMatchObject({
    kind: "TRANSFER",
    fromWalletId: "wal_a",
    toAddress: "0xabc",
    amountWon: 5n,
  });
  expect(stepOfHold(hold).nonce).not.toBe(stepOfHold({ ...hold, holdRequestId: "trf_2" }).nonce);
});

test("the steps of any entry move exactly its lines, and each leg has its own nonce", () => {
  const wallets = fc.uniqueArray(
    fc.record({ id: fc.integer({ min: 0, max: 7 }), amount: fc.integer({ min: -1000, max: 1000 }) }),
    {
      selector: ({ id }) => id,
      minLength: 1,
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(wallets, (moves) => {
      const total = moves.reduce((sum, { amount }) => sum + amount, 0);
      const lines = [
        ...moves.map(({ id, amount }, index) => line(`wal_${id}`, amount, index + 1)),
        line("acc_x", -total, 9),
      ];
      const steps = stepsOf(lines);
      const moved = new Map<string, bigint>();
      for (const { fromWalletId, toWalletId, amountWon } of steps) {
        expect(amountWon > 0n).toBe(true);
        if (fromWalletId) moved.set(fromWalletId, (moved.get(fromWalletId) ?? 0n) - amountWon);
        if (toWalletId) moved.set(toWalletId, (moved.get(toWalletId) ?? 0n) + amountWon);
      }
      for (const { id, amount } of moves) expect(moved.get(`wal_${id}`) ?? 0n).toBe(BigInt(amount));
      const legs = steps
        .filter(({ fromWalletId }) => fromWalletId !== null)
        .map(({ fromWalletId, nonce }) => `${fromWalletId} ${nonce}`);
      expect(new Set(legs).size).toBe(legs.length);
    }),
  );
});

test("names stay the same for ever, because the chain keeps them", () => {
  expect(operationIdOf([line("wal_a", -1, 3), line("wal_shop", 1, 1_000)])).toBe(
    "d19d048b340941df59f8b895ad477e5ba74b6f46414b206280eda2116ac46be8",
  );
  expect(operationIdOfHold("trf_1")).toBe("018644cffc5deff2ffbc5e7691760102001ee0bb2e59ceea1bacdf9d9d592fe6");
  expect(operationIdAnew("ab")).toBe("50b6f8f3a5995e5b5ef8154a8d221eb86104ba4f78fe04208200785734d6df0f");
  const hold = { holdRequestId: "trf_1", walletId: "wal_a", toAddress: "0xabc", amountWon: won(5n) };
  expect(stepOfHold(hold)).toEqual({
    ...{ kind: "TRANSFER", fromWalletId: "wal_a", toWalletId: null, toAddress: "0xabc", amountWon: 5n },
    nonce: "74c87e1d7f6151eb5b653c99a0ceec91f62dd229a0b2f12fffd699f360e3fd50",
  });
});

test("an entry without lines has no name", () => {
  expect(() => operationIdOf([])).toThrow("an entry has lines");
});

test("a ninth authorization out of one wallet is refused", () => {
  const lines = (receivers: number) => [
    line("wal_shop", -receivers, 1),
    ...Array.from({ length: receivers }, (_, index) => line(`wal_${index}`, 1, 1)),
  ];
  expect(stepsOf(lines(8))).toHaveLength(8);
  expect(() => stepsOf(lines(9))).toThrow("more authorizations out of one wallet");
});

test("a mint needs no authorization, and accounts of the organisation are no wallets", () => {
  const [mint] = stepsOf([line("acc_i", -5, 1), line("wal_a", 5, 1)]);
  const [burn] = stepsOf([line("wal_a", -5, 1), line("acc_i", 5, 1)]);
  expect([isLeg(mint!), isLeg(burn!)]).toEqual([false, true]);
  expect(mint).toMatchObject({ nonce: "", toAddress: null });
  expect(walletsOf([mint!, burn!])).toEqual(["wal_a"]);
  expect([isWallet("wal_a"), isWallet("acc_wal_a")]).toEqual([true, false]);
});
