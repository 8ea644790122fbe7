import fc from "fast-check";
import { named, sql, textOf, type Sql } from "./sql";

const rendered = (statement: ReturnType<typeof sql>) => [textOf(statement), statement.values];

describe("sql", () => {
  it("turns every value into a parameter", () => {
    const name = "'; drop table accounts; --";
    expect(rendered(sql`select * from accounts where name = ${name} and id = ${7n}`)).toEqual([
      "select * from accounts where name = $1 and id = $2",
      [name, "7"],
    ]);
  });

  it("nests statements and numbers their parameters continuously", () => {
    const own = sql`org_id = ${"org"} and status = ${"ACTIVE"}`;
    expect(rendered(sql`select ${1} from wallets where ${own} and amount > ${5n} limit ${10}`)).toEqual([
      "select $1 from wallets where org_id = $2 and status = $3 and amount > $4 limit $5",
      [1, "org", "ACTIVE", "5", 10],
    ]);
    expect(rendered(sql`${sql`a`}${sql`b ${1}`}`)).toEqual(["ab $1", [1]]);
  });

  it("joins parts", () => {
    expect(rendered(sql`${sql.join([sql`a = ${1}`, sql`b`, sql`c = ${2}`], sql` and `)};`)).toEqual([
      "a = $1 and b and c = $2;",
      [1, 2],
    ]);
    expect(rendered(sql`(${sql.join([], sql`, `)})`)).toEqual(["()", []]);
  });

  it("quotes identifiers", () => {
    expect(textOf(sql`select 1 from ${sql.identifier('a"b')}`)).toBe('select 1 from "a""b"');
  });

  it("keeps the name of a named statement and renders each place in the code once", () => {
    const make = (id: number) => named("by_id", sql`select ${id}`);
    expect(make(1)).toMatchObject({ name: "by_id", values: [1] });
    expect(make(1).strings).toBe(make(2).strings);
  });

  it("accepts dates in UTC, JSON, bytes and null", () => {
    const bytes = Buffer.from("ab");
    expect(rendered(sql`${new Date(0)} ${sql.json({ a: [1] })} ${bytes} ${null}`)).toEqual([
      "$1 $2::jsonb $3 $4",
      ["1970-01-01T00:00:00.000Z", '{"a":[1]}', bytes, null],
    ]);
  });

  it("refuses undefined and objects that only look like a statement", () => {
    expect(() => sql`${undefined as never}`).toThrow("use null");
    expect(() => sql`${{ strings: ["drop"], values: [] } as never}`).toThrow("assertion failed");
  });

  it("leaves an array to pg when the binary format cannot carry it", () => {
    expect(rendered(sql`${[1n, 2n]}::numeric[]`)).toEqual(["$1::numeric[]", [[1n, 2n]]]);
    const times = [new Date(0), null];
    expect(rendered(sql`${sql.array(times, "timestamptz[]")}`)).toEqual(["$1::timestamptz[]", [times]]);
  });

  it("sends an array in binary when every element fits the type of the cast", () => {
    const isBinary = ({ values }: Sql) => Buffer.isBuffer(values[0]);
    const fitting = [
      sql`${[1n, null]}::bigint[]`,
      sql`${[-(2n ** 63n)]}::bigint[]`,
      sql`${[1, null]}::integer[]`,
      sql`${[-32_768]}::smallint[]`,
      sql`any(${["a", null]}::text[])`,
      sql`${sql.array([Buffer.from("a"), null], "bytea[]")}`,
      sql`${[null]}::text[]`,
      sql`${["{}", null]}::jsonb[]`,
      sql`${["0".repeat(32), null]}::uuid[]`,
    ];
    expect(fitting.map(isBinary)).toEqual(fitting.map(() => true));
    const others = [
      sql`${[]}::bigint[]`,
      sql`${[2n ** 63n]}::bigint[]`,
      sql`${[1, 2]}::bigint[]`,
      sql`${[2 ** 31]}::integer[]`,
      sql`${[1.5]}::integer[]`,
      sql`${[32_768]}::smallint[]`,
      sql`${["a", 1]}::text[]`,
      sql`${["a"]}::uuid[]`,
      sql`${[1]}::jsonb[]`,
      sql`${[1n]}`,
    ];
    expect(others.map(isBinary)).toEqual(others.map(() => false));
  });

  it("numbers as many parameters as there are values, at any nesting", () => {
    const { statement } = fc.letrec<{ statement: ReturnType<typeof sql> }>((tie) => ({
      statement: fc.oneof(
        { depthSize: "small" },
        fc.integer().map((value) => sql`v ${value}`),
        fc
          .tuple(tie("statement"), fc.string(), tie("statement"))
          .map(([a, b, c]) => sql`( ${a} x ${b} ${c} )`),
      ),
    }));
    fc.assert(
      fc.property(statement, (nested) => {
        const numbers = [...textOf(nested).matchAll(/\$(\d+)/g)].map(([, digits]) => Number(digits));
        expect(numbers).toEqual(nested.values.map((_, index) => index + 1));
      }),
    );
  });
});
