import { commandOf } from "./runOptions";

test("the command has the options that were given", () => {
  const options = { seed: 7, operations: 2_000, faults: 8, brokers: 0, kinds: ["fees-spiked", "link-slow"] };
  expect(commandOf({ ...options, speed: 2, prefix: 3, ha: true })).toBe(
    "npm run torture -- --seed 7 --ops 2000 --faults 8 --brokers 0 --speed 2 --prefix 3 --kinds fees-spiked,link-slow --ha",
  );
});
