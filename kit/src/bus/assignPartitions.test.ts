import fc from "fast-check";
import { assignPartitions } from "./assignPartitions";

const partitionsOf = (topic: string, count: number) =>
  Array.from({ length: count }, (_, number) => ({ topic, number }));

describe("assignPartitions", () => {
  it("deals a topic's partitions to the members in turn, in any order of their names", () => {
    const members = ["b", "a"].map((id) => ({ id, topics: ["t"] }));
    const shares = assignPartitions(members, partitionsOf("t", 5));
    expect(shares.get("a")!.map(({ number }) => number)).toEqual([0, 2, 4]);
    expect(shares.get("b")!.map(({ number }) => number)).toEqual([1, 3]);
    expect(assignPartitions([...members].reverse(), partitionsOf("t", 5))).toEqual(shares);
  });

  it("deals a topic only to members that subscribed to it", () => {
    const members = [
      { id: "old", topics: ["t"] },
      { id: "new", topics: ["t", "added"] },
    ];
    const shares = assignPartitions(members, [
      ...partitionsOf("added", 2),
      ...partitionsOf("t", 2),
      ...partitionsOf("nobody's", 1),
    ]);
    expect(shares.get("new")).toEqual([...partitionsOf("added", 2), { topic: "t", number: 0 }]);
    expect(shares.get("old")).toEqual([{ topic: "t", number: 1 }]);
  });

  it("deals each partition to exactly one member, and equal numbers up to a difference of one", () => {
    const ids = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(ids, fc.integer({ min: 0, max: 40 }), (memberIds, count) => {
        const members = memberIds.map((id) => ({ id, topics: ["t"] }));
        const shares = [...assignPartitions(members, partitionsOf("t", count)).values()];
        const dealt = shares.flat().map(({ number }) => number);
        expect(dealt.sort((a, b) => a - b)).toEqual(partitionsOf("t", count).map(({ number }) => number));
        const sizes = shares.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });
});
