import { BUGS } from "./bugs";
import { readHuntOptions } from "./options";

test("the first seed has a run of each size, and the others have one of the last size", () => {
  const { bugs, attempts } = readHuntOptions(["--seeds", "4,5", "--sizes", "500x3,5000x20"]);
  expect(bugs).toEqual(BUGS);
  expect(attempts).toEqual([
    { seed: "4", operations: "500", faults: "3" },
    { seed: "4", operations: "5000", faults: "20" },
    { seed: "5", operations: "5000", faults: "20" },
  ]);
});

test("kinds and brokers are options of each run", () => {
  expect(readHuntOptions(["--kinds", "link-slow", "--brokers", "0"]).run).toEqual([
    ...["--kinds", "link-slow", "--brokers", "0"],
  ]);
});

test("a size without faults is refused", () => {
  expect(() => readHuntOptions(["--sizes", "500"])).toThrow('--sizes has "500"');
});

test("a text that no bug contains is refused", () => {
  expect(() => readHuntOptions(["--only", "no such bug"])).toThrow("no such bug");
});
