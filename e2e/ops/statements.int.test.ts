import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, rawSql } from "@wonrail/kit/db";
import { migrate, provisionSchema } from "@wonrail/kit/migrate";
import { createTestDatabase, openTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { operatePages, DEPLOYED, readText, ROOT } from "./repository";

// A migrated database understands every psql statement of the operators' pages.

const PAGES = [
  ...readdirSync(join(ROOT, "docs/runbooks")).map((file) => `docs/runbooks/${file}`),
  ...operatePages(),
];
const STATEMENT = /^(?:select|insert into|update|delete from) /;
const written = PAGES.flatMap((page) =>
  spansOf(readText(page))
    .filter((span) => STATEMENT.test(span))
    .map((statement): [string, string] => [page, statement]),
);
const PASSWORDS = { rolePassword: "test", ownerPassword: "test" };
const services = DEPLOYED.flatMap(({ schema, folder }) =>
  schema === undefined ? [] : [{ schema, migrations: join(ROOT, folder, "migrations") }],
);

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  const [first, ...others] = services;
  database = await createTestDatabase(first!);
  for (const { schema, migrations: dir } of others) {
    const { ownerUrl } = await provisionSchema({ adminUrl: database.adminUrl, schema, ...PASSWORDS });
    await migrate({ url: ownerUrl, schema, dir, log: testLog() });
  }
  db = openTestDatabase(database.adminUrl, "public");
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

test.each(written)("%s: %s", async (_page, statement) => {
  await db.run(rawSql(`explain ${statement}`));
});

test("finds statements", () => {
  expect(written.length).toBeGreaterThanOrEqual(5);
});

/** Text between backticks, in a line or in a block. */
function spansOf(page: string): string[] {
  const blocks = [...page.matchAll(/```sql\n([^]*?);?\n```/g)].map((match) => match[1]!);
  return [...blocks, ...[...page.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!)];
}
