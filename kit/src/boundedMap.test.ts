import { BoundedMap } from "./boundedMap";

test("evicts the entry with the oldest write", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});

test("evicts the least recently used entry", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, undefined, 3]);
});

test.each([2, 3, 10, 11])("a map of at most %p entries keeps the newest half of them, each once", (max) => {
  const map = new BoundedMap<number, number>(max);
  for (let number = 0; number < 100; number += 1) {
    map.set(number, number);
    map.get(Math.floor(number / 2) * 2);
    map.set(number, -number);
    expect(map.size).toBeLessThanOrEqual(max);
    expect(map.size).toBe(new Map(map).size);
    for (let kept = Math.max(0, number - Math.floor(max / 2) + 1); kept <= number; kept += 1)
      expect([...map]).toContainEqual([kept, -kept]);
  }
});

test("deletes entries of both halves, also during an iteration", () => {
  const map = new BoundedMap<number, number>(4);
  for (const number of [1, 2, 3, 4]) map.set(number, number);
  for (const [number] of map) if (number % 2 === 0) map.delete(number);
  expect([...map]).toEqual([
    [1, 1],
    [3, 3],
  ]);
  expect([map.get(2), map.get(4)]).toEqual([undefined, undefined]);
});
