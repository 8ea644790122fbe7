import fc from "fast-check";
import { findOrder, type Step } from "./findOrder";

interface Register {
  value: number;
}

interface Drawn {
  from: number;
  lasts: number;
  isLost: boolean;
  read?: number;
  add?: number;
}

const drawn: fc.Arbitrary<Drawn> = fc
  .record({
    from: fc.nat(8),
    lasts: fc.nat(6),
    isLost: fc.boolean(),
    change: fc.oneof(fc.record({ read: fc.nat(3) }), fc.record({ add: fc.constantFrom(1, 2) })),
  })
  .map(({ change, ...times }) => ({ ...times, ...change }));

test("the search agrees with a try of all orders", () => {
  const counts = { found: 0, none: 0 };
  fc.assert(
    fc.property(fc.array(drawn, { maxLength: 6 }), (all) => {
      const steps = all.map(stepOf);
      const { found } = findOrder({
        state: { value: 0 },
        describe: ({ value }) => `${value}`,
        steps,
      });
      expect(found).toBe(hasOrder(0, steps));
      counts[found ? "found" : "none"] += 1;
    }),
    { numRuns: 2_000, seed: 1 },
  );
  expect(Math.min(counts.found, counts.none)).toBeGreaterThan(200);
});

test("the state is unchanged after a search without success", () => {
  const state = { value: 0 };
  const steps = [
    { from: 0, lasts: 1, isLost: false, add: 2 },
    { from: 0, lasts: 9, isLost: true, add: 1 },
    { from: 5, lasts: 1, isLost: false, read: 1 },
  ].map(stepOf);
  expect(findOrder({ state, describe: ({ value }) => `${value}`, steps }).found).toBe(false);
  expect(state.value).toBe(0);
});

test("a search beyond the limit of tries gives up instead of passing", () => {
  const steps = Array.from({ length: 12 }, () => stepOf({ from: 0, lasts: 1, isLost: false, add: 1 }));
  steps.push(stepOf({ from: 5, lasts: 1, isLost: false, read: 99 }));
  const result = findOrder({ state: { value: 0 }, describe: String, steps, maxTries: 50 });
  expect(result).toMatchObject({ found: false, gaveUp: true });
});

function stepOf({ from, lasts, isLost, read, add = 0 }: Drawn): Step<Register> {
  return {
    operation: undefined,
    from,
    until: isLost ? Infinity : from + lasts,
    isCertain: !isLost,
    apply(state) {
      if (read !== undefined && state.value !== read) return undefined;
      state.value += add;
      return () => (state.value -= add);
    },
  };
}

/** Tries every order of every choice of the uncertain steps. */
function hasOrder(value: number, left: Step<Register>[]): boolean {
  if (left.every(({ isCertain }) => !isCertain)) return true;
  return left.some((step) => {
    const others = left.filter((each) => each !== step);
    if (others.some(({ until }) => until < step.from)) return false;
    const state = { value };
    return step.apply(state) !== undefined && hasOrder(state.value, others);
  });
}
