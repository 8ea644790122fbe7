import fc from "fast-check";
import { parseCsv } from "./parseCsv";

const cell = fc.string({ unit: fc.constantFrom("a", "é", ",", '"', "\n", "\r", " ", "=", "") });
const records = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

test.each(["\n", "\r\n"])("reads back the quoted cells of records that end with %j", (lineEnd) => {
  fc.assert(
    fc.property(records, fc.boolean(), (wanted, endsWithLine) => {
      const text = wanted.map((record) => record.map(quoted).join(",")).join(lineEnd);
      expect(parseCsv(endsWithLine && wanted.length > 0 ? text + lineEnd : text)).toEqual(wanted);
    }),
  );
});

test("reads plain cells, empty cells and a byte order mark", () => {
  expect(parseCsv("\u{feff}a,b\n1,\n,2\r\n3,")).toEqual([
    ["a", "b"],
    ["1", ""],
    ["", "2"],
    ["3", ""],
  ]);
  expect(parseCsv("")).toEqual([]);
});

test.each([
  ['a\n"b', "record 2 has a quote without an end"],
  ['a\n"b"c', "record 2 has characters behind a quoted cell"],
])("refuses %j", (text, message) => {
  const fields = [{ path: "csv", message }];
  expect(() => parseCsv(text)).toThrow(expect.objectContaining({ code: "REQ_001", details: { fields } }));
});
