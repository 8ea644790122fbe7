import { isOwnPath } from "./ownPath";

test.each([
  ["/", true],
  ["/auth/sign-in", true],
  ["//evil.example", false],
  ["/\\evil.example", false],
  ["https://evil.example/", false],
  ["javascript:alert(1)", false],
  ["", false],
  [undefined, false],
])("%j is a path of this site: %j", (path, isOwn) => {
  expect(isOwnPath(path)).toBe(isOwn);
});
