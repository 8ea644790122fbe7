import type { Json } from "../json";
import { type ArrayElement, binaryArray } from "./binaryArrays";

const sqlBrand = Symbol("sql");

/**
 * A statement or a part of one. Only the `sql` tag creates it, so callers' input can become a
 * parameter but never text.
 */
export interface Sql {
  readonly [sqlBrand]: true;
  readonly strings: readonly string[];
  readonly values: readonly Parameter[];
  readonly name?: string;
}

type Parameter = null | boolean | number | string | Uint8Array | readonly ArrayElement[];
export type SqlValue = ArrayElement | readonly ArrayElement[] | Sql;

/**
 * ``sql`select … where id = ${id}` ``: values become parameters, nested statements become part of
 * this one. An array takes its form from the following cast, ``${amounts}::bigint[]``.
 */
export function sql(strings: TemplateStringsArray, ...values: SqlValue[]): Sql {
  if (values.some(isSql)) return merge(strings, values);
  return make(
    strings,
    values.map((value, index) => parameter(value, strings[index + 1]!)),
  );
}

/** A table's or column's name that is not known when the statement is written. */
sql.identifier = (name: string): Sql => make([`"${name.replaceAll('"', '""')}"`], []);

sql.json = (value: Json): Sql => make(["", "::jsonb"], [JSON.stringify(value)]);

/** An array with its cast, for `unnest`: `sql.array(amounts, "bigint[]")`. */
sql.array = (values: readonly ArrayElement[], type: ArrayType): Sql =>
  make(["", `::${type}`], [array(values, `::${type}`)]);

sql.join = (parts: readonly Sql[], separator: Sql): Sql => {
  const list = parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
  return merge(Array<string>(list.length + 1).fill(""), list);
};

export type ArrayType =
  | "bigint[]"
  | "boolean[]"
  | "bytea[]"
  | "integer[]"
  | "jsonb[]"
  | "numeric[]"
  | "smallint[]"
  | "text[]"
  | "timestamptz[]"
  | "uuid[]";

/**
 * Makes it a prepared statement with its own series in `db_query_duration_seconds`. A name has one
 * text. Postgres keeps its plan until the tables' statistics change. So do not name a join of
 * arrays with a fast-growing table: a plan for a small table reads all of a large one.
 */
export function named(name: string, statement: Sql): Sql {
  return { ...statement, name };
}

/** For files that are SQL already: migrations. */
export function rawSql(text: string): Sql {
  return make([text], []);
}

/** The statement's text. Cached per place in the code without nested statements. */
export function textOf(statement: Sql): string {
  const known = texts.get(statement.strings);
  if (known !== undefined) return known;
  const text = statement.strings.reduce((before, after, index) => `${before}$${index}${after}`);
  texts.set(statement.strings, text);
  return text;
}

const texts = new WeakMap<readonly string[], string>();

function make(strings: readonly string[], values: readonly Parameter[]): Sql {
  return { [sqlBrand]: true, strings, values };
}

function isSql(value: SqlValue): value is Sql {
  return typeof value === "object" && value !== null && sqlBrand in value;
}

function merge(strings: readonly string[], values: readonly SqlValue[]): Sql {
  const mergedStrings = [strings[0]!];
  const mergedValues: Parameter[] = [];
  values.forEach((value, index) => {
    const after = strings[index + 1]!;
    if (!isSql(value)) {
      mergedValues.push(parameter(value, after));
      mergedStrings.push(after);
      return;
    }
    mergedStrings[mergedStrings.length - 1] += value.strings[0]!;
    mergedStrings.push(...value.strings.slice(1));
    mergedStrings[mergedStrings.length - 1] += after;
    mergedValues.push(...value.values);
  });
  return make(mergedStrings, mergedValues);
}

function parameter(value: SqlValue, after: string): Parameter {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "string":
    case "number":
    case "boolean":
      return value;
    default:
      return objectParameter(value, after);
  }
}

function objectParameter(value: object | null | undefined, after: string): Parameter {
  if (value === null || value instanceof Uint8Array) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return array(value as ArrayElement[], after);
  throw new Error(
    "assertion failed: an SQL parameter is a scalar, an array of scalars or sql``; use null for what is absent",
  );
}

function array(values: readonly ArrayElement[], cast: string): Parameter {
  return binaryArray(values, cast) ?? values;
}
