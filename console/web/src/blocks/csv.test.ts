import { csvField, toCsv } from "./csv";

test.each(["=1+2", "+SUM(A1)", "-2+3", "@now", "\tx", "\rx"])(
  "a field that begins like the formula %j gets an apostrophe",
  (text) => {
    expect(csvField(text).replaceAll('"', "")).toBe(`'${text}`);
  },
);

test("a formula stays harmless when the field is quoted", () => {
  expect(csvField('=HYPERLINK("https://evil.example","x")')).toBe(
    `"'=HYPERLINK(""https://evil.example"",""x"")"`,
  );
});

test("negative numbers stay numbers", () => {
  expect([csvField("-1500"), csvField("-0.5")]).toEqual(["-1500", "-0.5"]);
});

test("separators, quotes and line breaks stay inside their field", () => {
  expect(
    toCsv(
      ["a", "b"],
      [
        ["1,2", 'say "hi"'],
        ["two\nlines", ""],
      ],
    ),
  ).toBe('a,b\r\n"1,2","say ""hi"""\r\n"two\nlines",\r\n');
});
