import { sql } from "../db";
import { createTestDatabase, type TestDatabase, wholeScans } from ".";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ schema: "sample" });
});
afterAll(() => database.drop());

test.each([
  ["a column without an index", sql`select from dead_letters where error = 'x' limit 1`, ["dead_letters"]],
  ["a whole index", sql`select count(*) from dead_letters`, ["dead_letters"]],
  ["a limit above a sort", sql`select from dead_letters order by error limit 1`, ["dead_letters"]],
  ["the beginning of an index", sql`select from dead_letters order by id limit 1`, []],
  [
    "a partial index",
    sql`select from dead_letters where replayed_at is null and dropped_at is null order by consumer_group`,
    [],
  ],
  ["a key", sql`select from dead_letters where id = ${1}`, []],
])("a statement that reads %s is judged by its plan", async (_what, statement, tables) => {
  expect(await wholeScans(database.db, (db) => db.query(statement))).toEqual(tables);
});
