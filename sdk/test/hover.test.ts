// Editors show the comment of a name on hover.
import { join } from "node:path";
import { publicMembers } from "./support/publicMembers.ts";

test("every exported name, method and field has hover documentation", () => {
  const members = publicMembers(join(__dirname, "../src/index.ts"));
  expect(members.length).toBeGreaterThan(250);
  expect(members.filter(({ comment }) => comment === "").map(({ name }) => name)).toEqual([]);
});
