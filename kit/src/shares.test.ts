import fc from "fast-check";
import { createShares, NOBODY, takeInTurns } from "./shares";

type Item = { owner: string; number: number };
const queue = fc
  .array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 60 })
  .map((owners): Item[] => owners.map((owner, number) => ({ owner, number })));
const take = (items: Item[], size: number) => takeInTurns(items, size, ({ owner }) => owner);
const count = (items: Item[], of: string) => items.filter(({ owner }) => owner === of).length;

describe("takeInTurns", () => {
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

describe("createShares", () => {
  it("gives each owner a number of places, and a returned place again", () => {
    const shares = createShares(2);
    expect(["a", "a", "a", "b"].map(shares.take)).toEqual([true, true, false, true]);
    shares.give("a");
    expect([shares.take("a"), shares.take("a")]).toEqual([true, false]);
  });

  it("does not limit items without an owner", () => {
    const shares = createShares(1);
    expect([shares.take(NOBODY), shares.take(NOBODY)]).toEqual([true, true]);
  });
});
