import fc from "fast-check";
import { planQueue, type QueuedOperation } from "./planQueue";

/** Six wallets, so that operations often share one. */
const wallets = fc.uniqueArray(
  fc.integer({ min: 1, max: 6 }).map((number) => `wal_${number}`),
  { minLength: 1, maxLength: 3 },
);
const queues = fc
  .array(fc.record({ wallets, isStuck: fc.boolean(), isRarelyStuck: fc.nat(9) }), { maxLength: 60 })
  .map((all) =>
    all.map(({ wallets, isStuck, isRarelyStuck }, number) => ({
      ...{ number, wallets },
      isStuck: isStuck && isRarelyStuck === 0,
    })),
  );

test("every wallet's operations keep the queue's order, and only stuck ones block others", () => {
  fc.assert(
    fc.property(queues, fc.integer({ min: 0, max: 80 }), (queue, room) => {
      const { planned, heldUp } = planQueue(queue, room);
      expect(planned.length).toBeLessThanOrEqual(room);
      for (const operation of planned) {
        const earlier = queue.slice(0, operation.number).filter((one) => sharesWallet(one, operation));
        const place = planned.indexOf(operation);
        for (const one of earlier) expect(planned.slice(0, place)).toContain(one);
      }
      const causes = findHeldUp(queue);
      for (const operation of heldUp) expect(causes.has(operation.number)).toBe(true);
      const seen = new Set([...planned, ...heldUp]);
      if (planned.length < room) expect(seen.size).toBe(queue.length);
    }),
    { numRuns: 500 },
  );
});

test("a queue is planned completely in several walks when the room is small", () => {
  fc.assert(
    fc.property(queues, fc.integer({ min: 1, max: 7 }), (queue, room) => {
      const order: number[] = [];
      let left = queue.map((operation) => ({ ...operation, isStuck: false }));
      while (left.length > 0) {
        const { planned, heldUp } = planQueue(left, room);
        expect(heldUp).toEqual([]);
        order.push(...planned.map(({ number }) => number));
        left = left.slice(planned.length);
      }
      expect(order).toEqual(queue.map(({ number }) => number));
    }),
  );
});

test("a stuck operation blocks its receiver's later operations and no other wallet's", () => {
  const of = (isStuck: boolean, ...wallets: string[]) => ({ wallets, isStuck });
  const queue = [
    of(true, "a", "b"),
    of(false, "b", "c"),
    of(false, "d"),
    of(false, "c"),
    of(false, "e", "d"),
  ];
  const { planned, heldUp } = planQueue(queue, 10);
  expect(planned).toEqual([queue[2], queue[4]]);
  expect(heldUp).toEqual([queue[0], queue[1], queue[3]]);
});

function sharesWallet(one: QueuedOperation, other: QueuedOperation): boolean {
  return one.wallets.some((walletId) => other.wallets.includes(walletId));
}

/**
 * Operations that are stuck or share a wallet with an earlier held-up one, by pairwise comparison.
 */
function findHeldUp(queue: (QueuedOperation & { number: number })[]): Set<number> {
  const found = new Set<number>();
  for (const one of queue) {
    const isBehind = queue.some(
      (earlier) => earlier.number < one.number && found.has(earlier.number) && sharesWallet(earlier, one),
    );
    if (one.isStuck || isBehind) found.add(one.number);
  }
  return found;
}
