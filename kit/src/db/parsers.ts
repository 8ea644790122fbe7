import { types, type CustomTypesConfig } from "pg";

type TextParser = (text: string) => unknown;

const INTEGER = /^-?\d+$/;

/**
 * Conversion of columns, per pool instead of per process: int8 and whole numeric become bigint, a
 * numeric with a fraction stays text, and so does `date`, which the driver would read as local
 * midnight.
 */
export const columnTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: string) =>
    (format === "binary" ? undefined : parsers.get(oid)) ??
    (types.getTypeParser(oid, format as "text") as TextParser),
};

const wholeNumber: TextParser = (text) => (INTEGER.test(text) ? BigInt(text) : text);
const asText: TextParser = (text) => text;

const parsers = new Map<number, TextParser>([
  [types.builtins.INT8, BigInt],
  [types.builtins.NUMERIC, wholeNumber],
  [types.builtins.DATE, asText],
  [types.builtins.TIMESTAMP, asText],
  [1016 /* int8[] */, arrayOf(BigInt)],
  [1231 /* numeric[] */, arrayOf(wholeNumber)],
]);

function arrayOf(parse: TextParser): TextParser {
  const parseTexts = types.getTypeParser(1009 as never) as (text: string) => (string | null)[];
  return (text) => parseTexts(text).map((element) => (element === null ? null : parse(element)));
}
