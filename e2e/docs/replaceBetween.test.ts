import { replaceBetween } from "./replaceBetween";

const PAGE = "# A\n<!-- one -->\nold\n<!-- end -->\ntext\n<!-- two -->\nkept\n<!-- end -->\n";

test("the text between a mark and its end is replaced, and a repetition changes nothing", () => {
  const written = replaceBetween(PAGE, "one", "new");
  expect(written).toBe("# A\n<!-- one -->\n\nnew\n\n<!-- end -->\ntext\n<!-- two -->\nkept\n<!-- end -->\n");
  expect(replaceBetween(written, "one", "new")).toBe(written);
});

test.each(["three", "text"])("a page without the mark %s is refused", (mark) => {
  expect(() => replaceBetween(PAGE, mark, "new")).toThrow(`lacks <!-- ${mark} -->`);
});
