import { DomainError } from "@wonrail/kit/contract/errors";
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

test.each([
  ["a sixth pair", { a: "", b: "", c: "", d: "", e: "", f: "" }],
  ["an empty key", { "": "x" }],
  ["a key of 41 characters", { ["k".repeat(41)]: "x" }],
  ["a key of 41 emoji", { ["😀".repeat(41)]: "x" }],
  ["a value of 501 characters", { k: "x".repeat(501) }],
  ["a value of 501 emoji", { k: "😀".repeat(501) }],
])("refuses %s", (_, metadata) => {
  expect(() => checkMetadata(metadata)).toThrow(DomainError);
});
