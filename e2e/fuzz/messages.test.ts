import { fromBinary } from "@bufbuild/protobuf";
import { seeded } from "@wonrail/kit/testing/random";
import { type Known, makeMessage, readMethods } from "./messages";

const ID = `wal_${"1".repeat(32)}`;
const PREFIXES = ["wal", "trf", "chg", "ccl", "rfd", "pay", "pcl", "prf", "pyo", "txn", "evt", "whk", "key"];
const ids = Object.fromEntries(PREFIXES.map((prefix) => [prefix, [ID]])) as Known["own"];
const known: Known = {
  own: ids,
  foreign: ids,
  addresses: [`0x${"a".repeat(40)}`],
  orgIds: ["org_1", "org_2"],
};
const EACH = 20;

test("every method gets requests, and most of them are messages of the method", () => {
  const methods = readMethods();
  expect(methods.length).toBeGreaterThan(80);
  let decoded = 0;
  for (const [place, method] of methods.entries())
    for (let index = 0; index < EACH; index += 1) {
      const request = makeMessage(seeded(place * EACH + index), method, known);
      decoded += canDecode(() => fromBinary(method.input, request));
    }
  expect(decoded).toBeGreaterThan(methods.length * EACH * 0.9);
  expect(decoded).toBeLessThan(methods.length * EACH);
});

function canDecode(decode: () => unknown): number {
  try {
    decode();
    return 1;
  } catch {
    return 0;
  }
}
