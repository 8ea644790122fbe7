import { seeded } from "@wonrail/kit/testing/random";
import { readOperations } from "./openapi";
import { makeRestCase, type Named } from "./restCases";

const IDS = Object.fromEntries(
  ["wal", "trf", "chg", "ccl", "rfd", "pay", "pcl", "prf", "pyo", "txn", "evt", "whk", "key"].map(
    (prefix) => [prefix, [`${prefix}_${"1".repeat(32)}`]],
  ),
) as Named["own"];
const NAMED: Named = { own: IDS, foreign: IDS, addresses: [`0x${"a".repeat(40)}`] };
const EACH = 60;

const operations = readOperations();
const cases = operations.flatMap((operation, place) =>
  Array.from({ length: EACH }, (_, index) => ({
    operation,
    made: makeRestCase(seeded(place * EACH + index), operation, NAMED),
  })),
);

test("a seed makes the same request again", () => {
  const again = makeRestCase(seeded(0), operations[0]!, NAMED);
  expect(again).toEqual(cases[0]!.made);
});

test("every request can be sent", () => {
  for (const { made } of cases) {
    expect(() => new Request(new URL(`http://gateway.test${made.path}`), made)).not.toThrow();
    expect(made.method === "GET" && made.body !== undefined).toBe(false);
  }
});

test("a valid request of an operation with a body is JSON with the required fields", () => {
  const valid = cases.filter(({ operation, made }) => operation.body && made.kind === "valid");
  expect(valid.length).toBeGreaterThan(EACH);
  for (const { made } of valid) expect(JSON.parse(made.body!)).toEqual(expect.any(Object));
});

test("every operation gets requests of every kind", () => {
  for (const { method, path } of operations) {
    const own = cases.filter(({ operation }) => operation.method === method && operation.path === path);
    expect([method, path, new Set(own.map(({ made }) => made.kind)).size]).toEqual([method, path, 3]);
  }
});
