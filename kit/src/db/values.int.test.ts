import fc from "fast-check";
import { createTestDatabase, type TestDatabase } from "../testing";
import { sql } from ".";

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase({ schema: "values" });
});
afterAll(() => test.drop());

describe("values", () => {
  it("reads int8 and whole numeric as bigint, and fractions and dates as strings", async () => {
    const row = await test.db.one(sql`
      select 9223372036854775807::int8 as big, 12345678901234567890123456789::numeric as whole, 1.50::numeric as fraction,
        7::int4 as small, null::int8 as nothing, date '2026-02-28' as day, timestamptz '2026-01-01T00:00:00Z' as at,
        array[1, null]::int8[] as bigs, count(*) as count`);
    expect(row).toEqual({
      big: 9223372036854775807n,
      whole: 12345678901234567890123456789n,
      fraction: "1.50",
      small: 7,
      nothing: null,
      day: "2026-02-28",
      at: new Date("2026-01-01T00:00:00Z"),
      bigs: [1n, null],
      count: 1n,
    });
  });

  it("passes arrays of any strings and bytes through unnest unchanged", async () => {
    const texts = ["a,b", "", "NULL", '"', "\\", "{}", "한국\n", "'; --", " x "];
    const bytes = [Buffer.from([0, 1, 255]), Buffer.alloc(0)];
    expect(await test.db.query(sql`select * from unnest(${texts}::text[]) as text`)).toEqual(
      texts.map((text) => ({ text })),
    );
    expect(await test.db.query(sql`select * from unnest(${bytes}::bytea[]) as bytes`)).toEqual(
      bytes.map((bytes) => ({ bytes })),
    );
  });

  it("returns arrays of any type as they were sent, including nulls", async () => {
    const orNull = <T>(one: fc.Arbitrary<T>) => fc.array(fc.option(one), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          orNull(fc.string({ unit: "binary" }).filter((text) => !text.includes("\0"))),
          orNull(fc.string({ unit: "grapheme-ascii" })),
        ),
        orNull(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))),
        orNull(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
        orNull(fc.integer()),
        orNull(fc.integer({ min: -32_768, max: 32_767 })),
        orNull(fc.json({ noUnicodeString: false }).filter((text) => !text.includes("\\u0000"))),
        orNull(fc.uuid()),
        async (texts, bytes, bigs, whole, small, json, uuids) => {
          const row = await test.db.one(sql`
            select ${texts}::text[] as texts, ${bytes}::bytea[] as bytes, ${bigs}::bigint[] as bigs, ${whole}::integer[] as whole,
              ${small}::smallint[] as small, to_jsonb(${json}::jsonb[]) as json,
              ${uuids}::uuid[]::text[] as uuids`);
          const parsed = json.map((text) => (text === null ? null : (JSON.parse(text) as unknown)));
          expect(row).toEqual({ texts, bytes, bigs, whole, small, json: parsed, uuids });
        },
      ),
      { numRuns: 200 },
    );
  });

  it("reads uuids of an array in every form of PostgreSQL, and refuses other text", async () => {
    const [digits, uuid] = ["0".repeat(31) + "a", `${"0".repeat(8)}-0000-0000-0000-${"0".repeat(11)}a`];
    const forms = [digits, uuid.toUpperCase(), `{${uuid}}`];
    for (const form of forms) {
      const row = await test.db.one(sql`select ${[form]}::uuid[]::text[] as uuids`);
      expect(row).toEqual({ uuids: [uuid] });
    }
    for (const bad of [digits.slice(1), `${digits}0`, digits.replace("a", "g"), ""])
      await expect(test.db.query(sql`select ${[bad]}::uuid[] as uuids`)).rejects.toThrow("type uuid");
  });

  it("refuses unstorable characters and large numbers within an array as outside of one", async () => {
    const nul = test.db.query(sql`select ${["a\0"]}::text[] as texts`);
    await expect(nul).rejects.toMatchObject({ code: "REQ_001" });
    await expect(test.db.query(sql`select ${[2n ** 63n]}::bigint[] as bigs`)).rejects.toThrow("out of range");
    await expect(test.db.query(sql`select ${["{"]}::jsonb[] as json`)).rejects.toThrow("type json");
  });
});
