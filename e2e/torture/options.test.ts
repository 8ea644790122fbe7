import { readOptions } from "./options";

const DEFAULTS = { defaultBrokers: 1, knownSeeds: [4, 7], nowMs: 1_234_567 };

test("a run without options has a seed from the clock and the size of the short test", () => {
  const options = { seeds: [234_567], operations: 2_000, faults: 8, brokers: 1 };
  expect(readOptions([], DEFAULTS)).toEqual(options);
});

test("known seeds go first and are not repeated", () => {
  expect(readOptions(["--known", "--seed", "9,7"], DEFAULTS).seeds).toEqual([4, 7, 9]);
});

test("minutes, kinds, brokers, clients and the folder are taken over", () => {
  const args = "--minutes 3 --kinds a,b --brokers 3 --clients 20 --folder /tmp/x".split(" ");
  const given = { minutes: 3, kinds: ["a", "b"], brokers: 3, clients: 20, folder: "/tmp/x" };
  expect(readOptions(args, DEFAULTS)).toMatchObject(given);
});

test.each(["-1", "1e3", "", "many"])("a number that is %j is refused", (text) => {
  expect(() => readOptions([`--ops=${text}`], DEFAULTS)).toThrow("--ops");
});

test("an unknown option is refused", () => {
  expect(() => readOptions(["--fault", "3"], DEFAULTS)).toThrow("--fault");
});
