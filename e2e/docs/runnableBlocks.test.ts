import { blocksOf, docsPages, findRunnableBlocks } from "./runnableBlocks";

test("bash blocks marked run become one script, and unmarked blocks are left out", () => {
  const text =
    "```bash run\na=1\n```\n```bash\nrm -r x\n```\n```bash run\necho $a\n```\n```js run\n1;\n```\n";
  expect(blocksOf("page", text)).toEqual([
    { page: "page", language: "bash", code: "a=1\n\necho $a\n" },
    { page: "page", language: "js", code: "1;\n" },
  ]);
});

test("the pages of the first payment have runnable blocks", () => {
  const pages = findRunnableBlocks().map(({ page }) => page);
  expect(docsPages()).toEqual(expect.arrayContaining(pages));
  for (const audience of ["partner", "operator", "sdk"]) expect(pages).toContain(`docs/start/${audience}.md`);
});
