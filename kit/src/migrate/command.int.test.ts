import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, rawSql, sql } from "../db";
import { createTestDatabase, testLog, type TestDatabase } from "../testing";
import { prepareSchema } from "./command";

const schema = `image_${randomBytes(4).toString("hex")}`;
const role = `wonrail_${schema}`;

let database: TestDatabase;
let dir: string;
beforeAll(async () => {
  database = await createTestDatabase({ schema: "sample" });
  dir = mkdtempSync(join(tmpdir(), "migrations-"));
  writeFileSync(join(dir, "0001_accounts.sql"), "create table accounts (id integer primary key);");
});
afterAll(async () => {
  const admin = openDatabase({
    url: database.adminUrl,
    schema: "public",
    applicationName: "test",
    log: testLog(),
  });
  await admin.run(rawSql(`drop database ${role} with (force)`));
  await admin.close();
  await database.drop();
  rmSync(dir, { recursive: true });
});

/** The passwords hold characters that a URL escapes. The database does not exist yet. */
function config(serviceRole = role) {
  return {
    LOG_LEVEL: "info" as const,
    SCHEMA: schema,
    MIGRATIONS: dir,
    DATABASE_URL: as(serviceRole, "p/s:1@%"),
    OWNER_DATABASE_URL: as(`${role}_owner`, "o?w#2"),
    ADMIN_DATABASE_URL: database.adminUrl,
  };
}

it("creates database, roles, schema and tables, also twice at once and without work", async () => {
  await Promise.all([prepareSchema(config(), testLog()), prepareSchema(config(), testLog())]);
  const { ADMIN_DATABASE_URL: _, ...withoutAdmin } = config();
  await prepareSchema(withoutAdmin, testLog());
  const db = openDatabase({ url: config().DATABASE_URL, schema, applicationName: "test", log: testLog() });
  try {
    expect(await db.query(sql`select count(*) as rows from accounts`)).toEqual([{ rows: 0n }]);
  } finally {
    await db.close();
  }
});

it("refuses URLs of two different databases", async () => {
  const other = new URL(config().OWNER_DATABASE_URL);
  other.pathname = "/postgres";
  await expect(prepareSchema({ ...config(), OWNER_DATABASE_URL: other.href }, testLog())).rejects.toThrow(
    "both URLs have to name the service's own database",
  );
});

it("refuses a service URL that is not for the service's role", async () => {
  await expect(prepareSchema(config("postgres"), testLog())).rejects.toThrow(`has to be for ${role}`);
});

function as(user: string, password: string): string {
  const url = new URL(database.adminUrl);
  url.pathname = `/${role}`;
  url.username = user;
  url.password = encodeURIComponent(password);
  return url.toString();
}
