import { newId } from "../../contract/ids";
import { readAtMost, readBodyHash, readIdempotencyKey, readOrgId } from "./read";

const orgId = newId("org");
const hash = Buffer.alloc(32);

test("valid values are read unchanged", () => {
  expect(readOrgId(orgId)).toBe(orgId);
  expect(readIdempotencyKey(" ~")).toBe(" ~");
  expect(readIdempotencyKey("k".repeat(255))).toHaveLength(255);
  expect(readBodyHash(hash)).toBe(hash);
  expect(readAtMost(2, ["a", "b"], "refs")).toEqual(["a", "b"]);
});

test.each<[what: string, path: string, read: () => unknown]>([
  ["no organisation", "context.orgId", () => readOrgId(undefined, "context.orgId")],
  ...["", "org_", newId("wal"), orgId.toUpperCase(), `${orgId}\n`].map(
    (text): [string, string, () => unknown] => [JSON.stringify(text), "orgId", () => readOrgId(text)],
  ),
  ["an empty key", "idempotencyKey", () => readIdempotencyKey("")],
  ["a key of 256 characters", "idempotencyKey", () => readIdempotencyKey("k".repeat(256))],
  ["a key of two lines", "idempotencyKey", () => readIdempotencyKey("two\nlines")],
  ["a key that is not ASCII", "idempotencyKey", () => readIdempotencyKey("키")],
  ["no hash", "bodyHash", () => readBodyHash(undefined)],
  ["a hash of 31 bytes", "bodyHash", () => readBodyHash(Buffer.alloc(31))],
  ["a hash of 33 bytes", "bodyHash", () => readBodyHash(Buffer.alloc(33))],
  ["one entry too many", "refs", () => readAtMost(2, ["a", "b", "c"], "refs")],
])("%s is refused as REQ_001 and names the field %s", (_what, path, read) => {
  const refusal = { code: "REQ_001", details: { fields: [{ path, message: expect.any(String) }] } };
  expect(read).toThrow(expect.objectContaining(refusal));
});
