import fc from "fast-check";
import { type Won, won } from "@wonrail/kit/contract/money";
import * as policy from "./signingPolicy";
import { signingCases } from "./testing/signingCases";

const { spendVelocity } = policy;

test.each(signingCases)("$name", ({ ask, answer }) => {
  expect(ask(policy)).toEqual(answer);
});

test("signed amounts never exceed a limit, and a refusal uses none of it", () => {
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
