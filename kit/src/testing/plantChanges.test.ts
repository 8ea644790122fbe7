import { plantChanges } from "./plantChanges";

test("each text is replaced, and a replacement is taken literally", () => {
  expect(
    plantChanges("lock(); write();", "x.ts", [
      ["lock();", ""],
      ["write", "$&"],
    ]),
  ).toBe(" $&();");
});

test("a text that is gone or occurs twice is refused with the file's name", () => {
  expect(() => plantChanges("a b", "x.ts", [["c", "d"]])).toThrow("x.ts has this text 0 times");
  expect(() => plantChanges("a a", "x.ts", [["a", "b"]])).toThrow("x.ts has this text 2 times");
});
