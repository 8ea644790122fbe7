import { chunksOf } from "./chunksOf";

test("gives every item once, in order, by no more than so many", () => {
  expect(chunksOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunksOf([1, 2, 3, 4], 2)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(chunksOf([], 2)).toEqual([]);
});
