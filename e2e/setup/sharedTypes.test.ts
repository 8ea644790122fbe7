import { runInThisContext } from "node:vm";
import * as pg from "pg";
import { z } from "zod";

/** The worker's own globals, which the shared packages use. */
const outer = runInThisContext("globalThis") as typeof globalThis;

test.each(["Array", "Error", "Function", "Map", "RegExp", "Set"] as const)(
  "the type %s: an instance of a shared package is an instance of the test file's type, and the other way round",
  (name) => {
    const [mine, theirs] = [globalThis[name], outer[name]] as unknown as [new () => object, new () => object];
    expect(mine).not.toBe(theirs);
    expect([new theirs() instanceof mine, new mine() instanceof theirs]).toEqual([true, true]);
    expect([{} instanceof mine, {} instanceof theirs]).toEqual([false, false]);
  },
);

test("an error of a shared package is an instance of its own class only", () => {
  class Own extends Error {}
  expect(new pg.DatabaseError("gone", 1, "error")).toBeInstanceOf(Error);
  expect(new pg.DatabaseError("gone", 1, "error")).not.toBeInstanceOf(Own);
  expect(new Own()).toBeInstanceOf(Own);
});

test("a test that sets the clock sets it for the shared packages", () => {
  const spy = jest.spyOn(Date, "now").mockReturnValue(5);
  expect(outer.Date.now()).toBe(5);
  spy.mockRestore();
});

test("a shared package accepts the values of a test file", () => {
  expect(z.date().parse(new Date(0))).toEqual(new Date(0));
});
