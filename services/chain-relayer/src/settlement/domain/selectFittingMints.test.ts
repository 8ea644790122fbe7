import fc from "fast-check";
import { selectFittingMints, type Mint } from "./selectFittingMints";

test("an organisation that wants the whole allowance leaves the others their share", () => {
  const greedy = { orgId: "greedy", units: 1_000n };
  const small = { orgId: "small", units: 10n };
  expect(selectFittingMints([greedy, small], 1_000n)).toEqual(new Set([small]));
  expect(selectFittingMints([greedy, small], 1_010n)).toEqual(new Set([greedy, small]));
});

test("a mint that does not fit blocks none behind it", () => {
  const mints = [
    { orgId: "one", units: 100n },
    { orgId: "one", units: 10n },
    { orgId: "other", units: 10n },
  ];
  expect(selectFittingMints(mints, 60n)).toEqual(new Set(mints.slice(1)));
});

test("mints never exceed the allowance, and all go when it suffices", () => {
  const mint = fc.record({ orgId: fc.constantFrom("a", "b", "c"), units: fc.bigInt({ min: 1n, max: 100n }) });
  const sum = (mints: Iterable<Mint>) => [...mints].reduce((total, { units }) => total + units, 0n);
  fc.assert(
    fc.property(fc.array(mint), fc.bigInt({ min: -10n, max: 2_000n }), (mints, room) => {
      const fitting = selectFittingMints(mints, room);
      expect(sum(fitting) <= (room > 0n ? room : 0n)).toBe(true);
      if (sum(mints) <= room) expect(fitting.size).toBe(mints.length);
    }),
  );
});

test("an organisation within its equal share gets all its mints, whatever the others want", () => {
  const units = fc.bigInt({ min: 1n, max: 100n });
  fc.assert(
    fc.property(fc.array(units, { minLength: 1 }), fc.array(units), (own, others) => {
      const mints = [
        ...others.map((of) => ({ orgId: "other", units: of })),
        ...own.map((of) => ({ orgId: "own", units: of })),
      ];
      const room = 2n * own.reduce((total, one) => total + one, 0n);
      const fitting = selectFittingMints(mints, room);
      expect(mints.filter(({ orgId }) => orgId === "own").every((one) => fitting.has(one))).toBe(true);
    }),
  );
});
