import { isTooWide, wrapMarkdown } from "./wrapMarkdown";

const word = "seventeen-letters";
const long = Array.from({ length: 8 }, () => word).join(" ");

test("a paragraph over 100 columns is wrapped", () => {
  const lines = wrapMarkdown(long).split("\n");
  expect(lines).toHaveLength(2);
  expect(lines.join(" ")).toBe(long);
  expect(lines.filter(isTooWide)).toEqual([]);
});

test("the continuation of a list item is indented", () => {
  expect(wrapMarkdown(`1. ${long}`).split("\n")[1]).toMatch(/^ {3}seventeen/);
});

test.each([
  ["a table", `| ${long} |`],
  ["a code block", `\`\`\`\n${long}\n\`\`\``],
  ["a heading", `# ${long}`],
  ["front matter", `---\ntagline: ${long}\n---`],
  ["one command", `\`${long}\``],
  ["a link to a long address", `[text](${long.replaceAll(" ", "/")})`],
])("%s is kept", (_, page) => {
  expect(wrapMarkdown(page)).toBe(page);
  expect(page.split("\n").length === 1 && isTooWide(page)).toBe(false);
});

test("no wrapped line begins a list by accident", () => {
  const page = `${Array.from({ length: 5 }, () => word).join(" ")} ab - ${word}`;
  expect(wrapMarkdown(page)).not.toMatch(/^- /m);
});
