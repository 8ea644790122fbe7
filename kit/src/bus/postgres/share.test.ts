import fc from "fast-check";
import { shareOf } from "./share";

const partition = (id: number, topic: string) => ({ id, topic });

describe("shareOf", () => {
  it("deals a topic's partitions in turn", () => {
    const members = ["a", "b"].map((member_id) => ({ member_id, topics: ["t"] }));
    const partitions = [1, 2, 3, 4, 5].map((id) => partition(id, "t"));
    expect([...shareOf("a", members, partitions)]).toEqual([1, 3, 5]);
    expect([...shareOf("b", members, partitions)]).toEqual([2, 4]);
  });

  it("gives a topic only to those that want it, as in the middle of a release", () => {
    const members = [
      { member_id: "new", topics: ["t", "added"] },
      { member_id: "old", topics: ["t"] },
    ];
    const partitions = [partition(1, "added"), partition(2, "added"), partition(3, "t"), partition(4, "t")];
    expect([...shareOf("new", members, partitions)]).toEqual([1, 2, 3]);
    expect([...shareOf("old", members, partitions)]).toEqual([4]);
  });

  it("gives each partition to exactly one of the members that see the same", () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(names, fc.integer({ min: 0, max: 40 }), (memberIds, count) => {
        const members = memberIds.map((member_id) => ({ member_id, topics: ["t"] }));
        const partitions = Array.from({ length: count }, (_, id) => partition(id, "t"));
        const shares = memberIds.map((id) => [...shareOf(id, members, partitions)]);
        expect(shares.flat().sort((a, b) => a - b)).toEqual(partitions.map(({ id }) => id));
        const sizes = shares.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });
});
