import { BoundedMap } from "./boundedMap";

test("forgets what was stored longest ago, and not what was stored again since", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  expect(map.set("c", 4)).toBe(2);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});
