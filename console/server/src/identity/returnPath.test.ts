import { returnPath } from "./returnPath";

const OURS = "https://console.example.com";

test.each([
  ["/", "/"],
  ["/operations/opn_1?tab=chain#top", "/operations/opn_1?tab=chain#top"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["\\\\evil.example", "/"],
  ["/.//evil.example", "/"],
  ["/a/..//evil.example", "/"],
  ["/\t/evil.example", "/"],
  ["https://evil.example/", "/"],
  ["https://console.example.com/", "/"],
  ["javascript:alert(1)", "/"],
  ["", "/"],
  [undefined, "/"],
  [["/a", "/b"], "/"],
])("the sign-in with returnTo %j returns to %j", (wanted, path) => {
  expect(returnPath(wanted, OURS)).toBe(path);
  expect(new URL(returnPath(wanted, OURS), OURS).origin).toBe(OURS);
});
