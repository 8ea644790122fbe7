import { findExcess, findSlack, lowerCeilings } from "./ceilings";
import { findProse } from "./findProse";

function kindsOf(path: string, text: string): string[] {
  return findProse(path, text).map(({ kind, line }) => `${kind} ${line}`);
}

test.each([
  [
    "a comment that starts with a clause",
    "a.ts",
    ["// Who finds nothing", " rests for a while."].join(""),
    ["comment 1"],
  ],
  ["a comment with an odd word", "a.sql", "-- The row may per" + "haps be sent twice.", ["comment 1"]],
  [
    "a test title",
    "a.test.ts",
    ["te", 'st("what is sent comes back as it was", () => {});'].join(""),
    ["test 1"],
  ],
  ["a message", "a.ts", ["mess", 'age: "nobody was found for this key",'].join(""), ["message 1"]],
  ["a page title", "a.md", "# 0166. Who finds nothing rests\n", ["title 1"]],
  ["a sentence of a page", "a.md", "The relay waits. What is left\nfollows later.", ["text 1"]],
  ["a long sentence", "a.md", `The relay ${"retries ".repeat(30)}.`, ["longSentence 1"]],
  ["a wide line", "a.ts", `const a = "${"x".repeat(150)}";`, ["wideLine 1"]],
])("%s is found", (_name, path, text, expected) => {
  expect(kindsOf(path, text).sort()).toEqual(expected);
});

test.each([
  ["plain sentences", "a.ts", "// The relay retries the batch.\n// One of two replicas sends it."],
  [
    "a wrapped sentence",
    "a.ts",
    "/**\n * The relay skips each event\n * that a consumer has already seen.\n */",
  ],
  ["a wrapped paragraph", "a.md", "The relay sends each event again\nuntil Kafka acknowledges it.\n"],
  ["code in a page", "a.md", "```\nwhat a shell would print here\n```\n"],
  ["a table", "a.md", `| what | ${"x".repeat(150)} |\n`],
])("%s are no findings", (_name, path, text) => {
  expect(kindsOf(path, text)).toEqual([]);
});

test("every finding has a suggestion", () => {
  const [finding] = findProse("a.md", "Nobody reads the second page of a list.");
  expect(finding).toMatchObject({ quote: "Nobody reads the second page of a list." });
  expect(finding!.suggestion).toMatch(/name the subject/);
});

test("a count above its ceiling is an excess, and a folder without ceiling allows none", () => {
  const counts = { kit: { comment: 3, test: 1 }, docs: { title: 1 } };
  const ceilings = { kit: { comment: 2, test: 1 } };
  expect(findExcess(counts, ceilings)).toEqual([
    { folder: "docs", kind: "title", count: 1, ceiling: 0 },
    { folder: "kit", kind: "comment", count: 3, ceiling: 2 },
  ]);
});

test("ceilings are lowered to the count and never raised", () => {
  const counts = { kit: { comment: 3, test: 1 } };
  const ceilings = { kit: { comment: 2, test: 5 }, docs: { title: 4 } };
  expect(findSlack(counts, ceilings)).toEqual([
    { folder: "docs", kind: "title", count: 0, ceiling: 4 },
    { folder: "kit", kind: "test", count: 1, ceiling: 5 },
  ]);
  expect(lowerCeilings(counts, ceilings)).toEqual({ kit: { comment: 2, test: 1 } });
});
