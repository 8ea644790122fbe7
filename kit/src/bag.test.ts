import { bag } from "./bag";

it("holds each item until its own removal", () => {
  const things = bag<string>();
  const takeOut = ["a", "b", "a"].map((thing) => things.put(thing));
  expect([things.size, things.all()]).toEqual([3, ["a", "b", "a"]]);
  takeOut[0]!();
  expect(things.all()).toEqual(["b", "a"]);
  takeOut[0]!();
  expect(things.all()).toEqual(["b", "a"]);
  takeOut[2]!();
  takeOut[1]!();
  expect([things.size, things.all()]).toEqual([0, []]);
});
