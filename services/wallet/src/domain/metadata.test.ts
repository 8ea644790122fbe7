import { checkMetadata } from "./metadata";

test.each(["v", "원", "😀"])("five pairs of %s at the limits are accepted", (character) => {
  expect(() =>
    checkMetadata(
      Object.fromEntries(
        ["a", "b", "c", "d", character.repeat(40)].map((key) => [key, character.repeat(500)]),
      ),
    ),
  ).not.toThrow();
});

const WRONG_KEY = "the key must have 1 to 40 characters";
const WRONG_VALUE = "must have at most 500 characters";

test.each([
  ["a sixth pair", { a: "", b: "", c: "", d: "", e: "", f: "" }, "metadata", "has more than 5 pairs"],
  ["an empty key", { "": "x" }, "metadata.", WRONG_KEY],
  ["a key of 41 characters", { ["k".repeat(41)]: "x" }, `metadata.${"k".repeat(40)}`, WRONG_KEY],
  ["a key of 41 emoji", { ["😀".repeat(41)]: "x" }, `metadata.${"😀".repeat(40)}`, WRONG_KEY],
  ["a value of 501 characters", { k: "x".repeat(501) }, "metadata.k", WRONG_VALUE],
  ["a value of 501 emoji", { k: "😀".repeat(501) }, "metadata.k", WRONG_VALUE],
])("refuses %s, and names the pair", (_, metadata, path, message) => {
  const refusal = { code: "REQ_001", details: { fields: [{ path, message }] } };
  expect(() => checkMetadata(metadata)).toThrow(expect.objectContaining(refusal));
});
