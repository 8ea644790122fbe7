import { sql } from "../db";
import { createTestDatabase, type TestDatabase } from "../testing";
import { CouldNotRun, Refusal } from "./runCommands";
import { withDatabase } from "./withDatabase";

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ schema: "sample" });
});
afterAll(() => testDatabase?.drop());

test("a query that times out is not reported as an unreachable database", async () => {
  const place = { DATABASE_URL: testDatabase.url };
  const work = withDatabase(place, "sample", (db) => db.query(sql`select pg_sleep(60)`), {
    statementTimeoutMs: 50,
  });
  await expect(work).rejects.toThrow(CouldNotRun);
  await expect(work).rejects.toThrow(/^The database at \S+ could not do it: .+ statement timeout\.$/);
});

test("a refusal by the work is rethrown unchanged", async () => {
  const refusal = new Refusal("There is no such row.");
  const work = withDatabase({ DATABASE_URL: testDatabase.url }, "sample", () => Promise.reject(refusal));
  await expect(work).rejects.toBe(refusal);
});
