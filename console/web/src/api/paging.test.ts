import { pageAfter, pageOf } from "./paging";

const idOf = (id: string) => id;

test("a full page continues behind its last row", () => {
  expect(pageAfter(["a", "b"], 2, idOf)).toEqual({ rows: ["a", "b"], next: "b" });
});

test("a page with room is the last one", () => {
  expect(pageAfter(["a"], 2, idOf).next).toBeUndefined();
  expect(pageAfter([], 2, idOf).next).toBeUndefined();
});

test("the service's cursor is the next position", () => {
  expect(pageOf(["a"], { nextCursor: "c" })).toEqual({ rows: ["a"], next: "c" });
  expect(pageOf(["a"], undefined).next).toBeUndefined();
});
