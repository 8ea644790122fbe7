import { types, type CustomTypesConfig } from "pg";

type TextParser = (text: string) => unknown;

const INTEGER = /^-?\d+$/;

/**
 * How columns become values, for one pool and not for the process: int8 and whole numeric are bigint, a numeric with a fraction keeps its
 * text, and `date` keeps its text too, since the driver would read it as midnight of the machine's time zone.
 */
export const columnTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: string) =>
    (format === "binary" ? undefined : parsers.get(oid)) ??
    (types.getTypeParser(oid, format as "text") as TextParser),
};

const wholeNumber: TextParser = (text) => (INTEGER.test(text) ? BigInt(text) : text);
const asText: TextParser = (text) => text;

/** The rows of a batch often have one and the same time, and taking its text apart is the dearest thing about them. */
const timestamp = repeating(
  types.getTypeParser(types.builtins.TIMESTAMPTZ) as (text: string) => Date | number,
);

const parsers = new Map<number, TextParser>([
  [types.builtins.INT8, BigInt],
  [types.builtins.NUMERIC, wholeNumber],
  [types.builtins.DATE, asText],
  [types.builtins.TIMESTAMP, asText],
  [types.builtins.TIMESTAMPTZ, timestamp],
  [1016 /* int8[] */, arrayOf(BigInt)],
  [1231 /* numeric[] */, arrayOf(wholeNumber)],
]);

function arrayOf(parse: TextParser): TextParser {
  const parseTexts = types.getTypeParser(1009 as never) as (text: string) => (string | null)[];
  return (text) => parseTexts(text).map((element) => (element === null ? null : parse(element)));
}

/** Infinity is a number; every other time is a Date of its own, which its owner may change. */
function repeating(parse: (text: string) => Date | number): TextParser {
  let last: { text: string; ms: number } | undefined;
  return (text) => {
    if (text === last?.text) return new Date(last.ms);
    const value = parse(text);
    if (value instanceof Date) last = { text, ms: value.getTime() };
    return value;
  };
}
