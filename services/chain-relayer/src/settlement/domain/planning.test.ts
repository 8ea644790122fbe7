import fc from "fast-check";
import { planBatch } from "./planning";
import { randomOperations, seeded } from "./testing/randomOperations";

const of = { count: 60, wallets: 5, outside: "0xoutside" };

test("whatever the order of arrival, everything goes, and nothing before what it depends on", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.integer({ min: 1, max: 25 }), (seed, limit) => {
      const random = seeded(seed);
      const { posted } = randomOperations(random, of);
      let waiting = [...posted].sort(() => random() - 0.5);
      const heads = new Map<string, bigint>();
      const gone: typeof posted = [];
      for (let round = 0; round < of.count && waiting.length > 0; round += 1) {
        const plan = planBatch(waiting, heads, limit);
        expect(plan.planned.length).toBeGreaterThan(0);
        expect(plan.planned.length).toBeLessThanOrEqual(limit);
        for (const [account, head] of plan.heads) heads.set(account, head);
        gone.push(...plan.planned);
        waiting = waiting.filter((operation) => !plan.planned.includes(operation));
      }
      expect(gone).toHaveLength(of.count);
      const lines = gone.flatMap(({ places }) => places.filter(({ movesTo }) => movesTo !== null));
      for (const account of new Set(lines.map(({ accountId }) => accountId))) {
        const order = lines.filter(({ accountId }) => accountId === account).map((place) => place.atSequence);
        expect(order).toEqual([...order].sort((one, other) => Number(one - other)));
      }
    }),
    { numRuns: 200 },
  );
});

test("what is missing in the middle holds up what comes behind it on its accounts, and nothing else", () => {
  const place = (accountId: string, at: bigint) => ({ accountId, atSequence: at, movesTo: at + 1n });
  const second = { places: [place("wal_a", 2n), place("wal_b", 1n)] };
  const third = { places: [place("wal_b", 2n)] };
  const other = { places: [place("wal_c", 1n)] };
  expect(planBatch([second, third, other], new Map(), 10).planned).toEqual([other]);
  const first = { places: [place("wal_a", 1n)] };
  expect(planBatch([third, second, first], new Map(), 10).planned).toEqual([first, second, third]);
});

test("a chain of thousands on one account goes in one go, in time that grows with it only", () => {
  const chain = Array.from({ length: 5_000 }, (_, number) => ({
    places: [{ accountId: "wal_shop", atSequence: BigInt(number + 1), movesTo: BigInt(number + 2) }],
  }));
  expect(planBatch(chain, new Map(), 5_000).planned).toEqual(chain);
});
