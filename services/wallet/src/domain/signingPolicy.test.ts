import fc from "fast-check";
import { type Won, won } from "@wonrail/kit/money";
import { isRepeat, refusalOf, type SigningFacts, type SigningIntent, spendVelocity } from "./signingPolicy";

const NOW_MS = 1_800_000_000_000;
const TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const PAYEE = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

const intent: SigningIntent = {
  orgId: "org_a",
  ledgerRef: "trf_1",
  fromWalletId: "wal_a",
  kind: "TRANSFER",
  toAddress: PAYEE,
  amountWon: won(1000n),
  nonce: "01".repeat(32),
  validBeforeMs: NOW_MS + 600_000,
  chainId: 31337n,
  tokenAddress: TOKEN,
};

const facts: SigningFacts = {
  chainId: 31337n,
  tokenAddress: TOKEN,
  nowMs: NOW_MS,
  horizonMs: 3_600_000,
  clockMarginMs: 60_000,
  walletKnown: true,
  operation: {
    outflow: new Map([["wal_a", won(1000n)]]),
    payable: new Map([[PAYEE, won(1000n)]]),
    burnable: won(0n),
  },
  earlier: undefined,
  otherLegsWon: won(0n),
};

test("signs what the ledger says is to be paid", () => {
  expect(refusalOf(intent, facts)).toBeNull();
});

test.each<[string, Partial<SigningIntent>, Partial<SigningFacts>, string]>([
  ["another chain", { chainId: 1n }, {}, "wrong_chain"],
  ["another token", { tokenAddress: PAYEE }, {}, "wrong_token"],
  ["a wallet of nobody or of another organisation", {}, { walletKnown: false }, "unknown_wallet"],
  ["an operation that the ledger does not know", {}, { operation: undefined }, "unknown_operation"],
  ["one KRW more than the ledger says", { amountWon: won(1001n) }, {}, "not_in_operation"],
  ["another payee", { toAddress: TOKEN }, {}, "not_in_operation"],
  [
    "a leg that with the others is more than what leaves the wallet",
    {},
    { otherLegsWon: won(1n) },
    "not_in_operation",
  ],
  ["another payer", { fromWalletId: "wal_b" }, {}, "not_in_operation"],
  ["a burn of what was paid to somebody", { kind: "BURN", toAddress: "" }, {}, "not_in_operation"],
  ["an end beyond the horizon", { validBeforeMs: NOW_MS + 3_600_001 }, {}, "horizon"],
  ["an end that has passed", { validBeforeMs: NOW_MS }, {}, "expired"],
])("refuses %s", (_, change, known, reason) => {
  expect(refusalOf({ ...intent, ...change }, { ...facts, ...known })).toBe(reason);
});

test("a second nonce waits until the first authorization is dead by any clock", () => {
  const earlier = { nonce: "02".repeat(32), amountWon: won(1000n), validBeforeMs: NOW_MS - 60_000 };
  expect(refusalOf(intent, { ...facts, earlier })).toBe("live_authorization");
  expect(refusalOf(intent, { ...facts, earlier: { ...earlier, validBeforeMs: NOW_MS - 60_001 } })).toBeNull();
});

test("the same nonce is signed again, also with a later end", () => {
  const earlier = { nonce: intent.nonce, amountWon: intent.amountWon, validBeforeMs: NOW_MS + 1 };
  expect(isRepeat(intent, earlier)).toBe(true);
  expect(refusalOf(intent, { ...facts, earlier })).toBeNull();
});

test("the same nonce for another amount is another authorization", () => {
  const earlier = { nonce: intent.nonce, amountWon: won(999n), validBeforeMs: NOW_MS + 1 };
  expect(refusalOf(intent, { ...facts, earlier })).toBe("live_authorization");
});

test("velocity: what is signed for never exceeds any limit, and a refusal spends nothing", () => {
  const limits = { walletWon: won(100n), organisationWon: won(150n), globalWon: won(200n) };
  const wish = fc.record({
    orgId: fc.constantFrom("org_a", "org_b"),
    fromWalletId: fc.constantFrom("wal_a", "wal_b", "wal_c"),
    amountWon: fc.bigInt({ min: 1n, max: 120n }).map((amount) => won(amount)),
  });
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 30 }), (wishes) => {
      const used = new Map<string, Won>();
      const granted = new Map<string, bigint>();
      for (const one of wishes) {
        const before = new Map(used);
        if (spendVelocity(used, one, limits) !== null) expect(used).toEqual(before);
        else {
          for (const scope of [`wallet/${one.fromWalletId}`, `org/${one.orgId}`, "all"]) {
            granted.set(scope, (granted.get(scope) ?? 0n) + one.amountWon);
          }
        }
      }
      for (const [scope, amount] of granted) {
        expect(amount <= (scope === "all" ? 200n : scope.startsWith("org") ? 150n : 100n)).toBe(true);
      }
    }),
  );
});
