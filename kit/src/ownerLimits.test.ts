import fc from "fast-check";
import { createOwnerLimits, NOBODY, takeFairly } from "./ownerLimits";

type Item = { owner: string; weight: number; number: number };
const queueOf = (weight: fc.Arbitrary<number>) =>
  fc
    .array(fc.record({ owner: fc.constantFrom("a", "b", "c", "d"), weight }), { maxLength: 60 })
    .map((all): Item[] => all.map((one, number) => ({ ...one, number })));
const queue = queueOf(fc.constant(0));
const take = (items: Item[], size: number) => takeFairly(items, { items: size, weight: 1 });
const weightOf = (items: Item[]) => items.reduce((sum, { weight }) => sum + weight, 0);
const count = (items: Item[], of: string) => items.filter(({ owner }) => owner === of).length;

describe("takeFairly", () => {
  it("neither loses nor duplicates an item, and keeps the order of both parts", () => {
    fc.assert(
      fc.property(queue, fc.integer({ min: 1, max: 20 }), (items, size) => {
        const { taken, left } = take(items, size);
        expect(taken).toHaveLength(Math.min(size, items.length));
        for (const part of [taken, left]) {
          expect(part.map(({ number }) => number)).toEqual(
            [...part.map(({ number }) => number)].sort((one, other) => one - other),
          );
        }
        expect(new Set([...taken, ...left])).toEqual(new Set(items));
      }),
    );
  });

  it("takes each owner's items in order, and at most one more from any owner than from a waiting one", () => {
    fc.assert(
      fc.property(queue, fc.integer({ min: 1, max: 20 }), (items, size) => {
        const { taken, left } = take(items, size);
        for (const { owner, number } of left) {
          expect(taken.every((other) => other.owner !== owner || other.number < number)).toBe(true);
          for (const other of ["a", "b", "c", "d"]) {
            expect(count(taken, other) - count(taken, owner)).toBeLessThanOrEqual(1);
          }
        }
      }),
    );
  });
});

describe("takeFairly with weights", () => {
  const weight = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 2, noNaN: true }));

  it("keeps a batch within its weight unless its only item is heavier", () => {
    fc.assert(
      fc.property(queueOf(weight), fc.integer({ min: 1, max: 20 }), (items, size) => {
        const { taken } = take(items, size);
        expect(taken.length).toBeLessThanOrEqual(size);
        if (taken.length > 1) expect(weightOf(taken)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("empties every queue batch by batch, each owner's items in order", () => {
    fc.assert(
      fc.property(queueOf(weight), fc.integer({ min: 1, max: 20 }), (items, size) => {
        const gone: Item[] = [];
        for (let left = items; left.length > 0;) {
          const batch = take(left, size);
          expect(batch.taken).not.toHaveLength(0);
          gone.push(...batch.taken);
          left = batch.left;
        }
        for (const owner of ["a", "b", "c", "d"]) {
          const ofOwner = (all: Item[]) => all.filter((item) => item.owner === owner);
          expect(ofOwner(gone)).toEqual(ofOwner(items));
        }
        expect(gone).toHaveLength(items.length);
      }),
    );
  });
});

describe("createOwnerLimits", () => {
  it("gives each owner a number of places, and a returned place again", () => {
    const limits = createOwnerLimits(2);
    expect(["a", "a", "a", "b"].map(limits.reserve)).toEqual([true, true, false, true]);
    limits.release("a");
    expect([limits.reserve("a"), limits.reserve("a")]).toEqual([true, false]);
  });

  it("does not limit items without an owner", () => {
    const limits = createOwnerLimits(1);
    expect([limits.reserve(NOBODY), limits.reserve(NOBODY)]).toEqual([true, true]);
  });
});
