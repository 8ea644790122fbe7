import { chunksOf } from "./chunksOf";

test("returns every item once, in order, in chunks of the given size", () => {
  expect(chunksOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunksOf([1, 2, 3, 4], 2)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(chunksOf([], 2)).toEqual([]);
});
