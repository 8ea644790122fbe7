import { readOptions } from "./options";

const DEFAULTS = { defaultBrokers: 1, knownSeeds: [4, 7], nowMs: 1_234_567 };

test("a run without options has a seed from the clock and the size of the short test", () => {
  const options = { seeds: [234_567], operations: 2_000, faults: 8, brokers: 1, ha: false, shrink: 8 };
  expect(readOptions([], DEFAULTS)).toEqual(options);
});

test("known seeds go first and are not repeated", () => {
  expect(readOptions(["--known", "--seed", "9,7"], DEFAULTS).seeds).toEqual([4, 7, 9]);
});

test("options with a value are taken over", () => {
  const numbers = { minutes: 3, brokers: 3, clients: 20, prefix: 2, speed: 3, shrink: 0 };
  const given = { ...numbers, kinds: ["a", "b"], folder: "/tmp/x", replay: "history.jsonl" };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, String(value)]);
  expect(readOptions(args, DEFAULTS)).toMatchObject(given);
});

test("--ha asks for several PostgreSQL servers", () => {
  expect(readOptions(["--ha"], DEFAULTS)).toMatchObject({ ha: true });
});

test.each(["-1", "1e3", "", "many"])("a number that is %j is refused", (text) => {
  expect(() => readOptions([`--ops=${text}`], DEFAULTS)).toThrow("--ops");
});

test("an unknown option is refused", () => {
  expect(() => readOptions(["--fault", "3"], DEFAULTS)).toThrow("--fault");
});
