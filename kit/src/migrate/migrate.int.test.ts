import { mkdtempSync, rmSync, writeFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, rawSql, sql, tx, type Database } from "../db";
import { createTestDatabase, openTestDatabase, testLog, type TestDatabase } from "../testing";
import { assertMigrated, migrate, provisionSchema } from ".";

let test: TestDatabase;
let dir: string;
let owner: Database;

beforeEach(async () => {
  test = await createTestDatabase({ schema: "sample" });
  owner = openTestDatabase(test.ownerUrl, "sample");
  dir = mkdtempSync(join(tmpdir(), "migrations-"));
  write(
    "0001_accounts.sql",
    "create table accounts (id integer primary key);\ninsert into accounts values (1);",
  );
});
afterEach(async () => {
  await owner.close();
  await test.drop();
  rmSync(dir, { recursive: true });
});

const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
const OF_THE_KIT = readdirSync(join(__dirname, "../../migrations")).length;
const run = () => migrate({ url: test.ownerUrl, schema: "sample", dir, log: testLog() });

describe("migrate", () => {
  it("applies and reports new migrations, and does nothing the second time", async () => {
    expect(await run()).toMatchObject({
      known: OF_THE_KIT,
      applied: [{ set: "service", number: 1, name: "accounts" }],
    });
    write("0002_names.sql", "alter table accounts add column name text;");
    expect(await run()).toMatchObject({ known: OF_THE_KIT + 1, applied: [{ number: 2, name: "names" }] });
    expect(await run()).toEqual({ known: OF_THE_KIT + 2, applied: [] });
    expect(await test.db.query(sql`select id, name from accounts`)).toEqual([{ id: 1, name: null }]);
  });

  it("applies each file once when several migrators start at the same time", async () => {
    write("0002_slow.sql", "select pg_sleep(0.2);\ninsert into accounts values (2);");
    const reports = await Promise.all([run(), run(), run()]);
    expect(reports.map(({ applied }) => applied.length).sort()).toEqual([0, 0, 2]);
  });

  it("rolls back a failed file, and names the file and the line", async () => {
    write("0002_broken.sql", "insert into accounts values (2);\n\nselect nothing_like_it;");
    await expect(run()).rejects.toThrow(
      'migration service 0002_broken line 3: column "nothing_like_it" does not exist',
    );
    expect(await test.db.query(sql`select id from accounts`)).toEqual([{ id: 1 }]);
    write("0002_broken.sql", "insert into accounts values (2);");
    expect((await run()).applied).toHaveLength(1);
  });

  it("refuses a file that was changed after being applied", async () => {
    await run();
    write("0001_accounts.sql", "create table accounts (id bigint primary key);");
    await expect(run()).rejects.toThrow("service 0001_accounts: changed after being applied");
  });

  it("builds an index concurrently, and again after a failure", async () => {
    write("0002_duplicates.sql", "create table names (name text);\ninsert into names values ('a'), ('a');");
    write(
      "0003_index.sql",
      "-- no-transaction\ndrop index concurrently if exists names_name;\ncreate unique index concurrently names_name on names (name);",
    );
    await expect(run()).rejects.toThrow("could not create unique index");
    await test.db.run(sql`delete from names`);
    expect((await run()).applied).toMatchObject([{ number: 3 }]);
  });

  it("waits with a concurrent index build for an older transaction, and with the next statement only briefly", async () => {
    await run();
    write(
      "0002_index.sql",
      `-- no-transaction
drop index concurrently if exists accounts_by_id;
create index concurrently accounts_by_id on accounts (id);
create table timeouts as select current_setting('lock_timeout') as name;
`,
    );
    write("0003_next.sql", "insert into timeouts values (current_setting('lock_timeout'));");
    let migrating: ReturnType<typeof run>;
    await tx(test.db, async (tx) => {
      await tx.run(sql`insert into accounts values (2)`);
      migrating = run();
      // Longer than one attempt waits for a lock.
      await tx.query(sql`select pg_sleep(3)`);
    });
    expect((await migrating!).applied).toHaveLength(2);
    expect(await test.db.query(sql`select name from timeouts`)).toEqual([{ name: "2s" }, { name: "2s" }]);
  });

  it("runs a file without a transaction again from its first statement after it failed half-way", async () => {
    await run();
    const file = (second: string) =>
      `-- no-transaction\ncreate table if not exists places (id integer);\n${second};\n`;
    write("0002_places.sql", file("select 1 / 0"));
    await expect(run()).rejects.toThrow("migration service 0002_places");
    await expect(assertMigrated(test.db, dir)).rejects.toThrow("service 0002_places");
    write("0002_places.sql", file("vacuum places"));
    expect((await run()).applied).toMatchObject([{ number: 2 }]);
  });

  it("does not queue up behind a long transaction: it gives way and tries again", async () => {
    await run();
    write("0002_names.sql", "alter table accounts add column name text;");
    let migrating: ReturnType<typeof run>;
    await tx(test.db, async (tx) => {
      await tx.query(sql`select id from accounts`);
      migrating = run();
      // Longer than one attempt waits. Others can read meanwhile, except during an attempt.
      await tx.query(sql`select pg_sleep(2.5)`);
      await tx.query(sql`select id from accounts`);
    });
    expect((await migrating!).applied).toHaveLength(1);
  });
});

describe("assertMigrated", () => {
  it("stops only a service whose schema is behind", async () => {
    await expect(assertMigrated(test.db, dir)).rejects.toThrow(
      "schema sample is behind this release: run its migrations first (service 0001_accounts)",
    );
    await run();
    await assertMigrated(test.db, dir);
    rmSync(join(dir, "0001_accounts.sql"));
    await assertMigrated(test.db, dir);
  });

  it("stops a service on an empty schema", async () => {
    const empty = await provisionSchema({
      adminUrl: test.adminUrl,
      schema: "empty",
      rolePassword: "test",
      ownerPassword: "test",
    });
    const db = openDatabase({ url: empty.url, schema: "empty", applicationName: "test", log: testLog() });
    await expect(assertMigrated(db)).rejects.toThrow("kit 0001_outbox, kit 0002_inbox");
    await db.close();
  });
});

describe("provisionSchema", () => {
  const provision = (schema: string, rolePassword = "test") =>
    provisionSchema({ adminUrl: test.adminUrl, schema, rolePassword, ownerPassword: "test" });

  it("may run repeatedly, also concurrently", async () => {
    const results = await Promise.all([provision("twice"), provision("twice"), provision("twice")]);
    expect(new Set(results.map(({ url }) => url)).size).toBe(1);
  });

  it("separates the schemas of two services, including later tables", async () => {
    const other = await provision("other");
    const otherOwner = openTestDatabase(other.ownerUrl, "other");
    await otherOwner.run(sql`create table secrets (id integer generated always as identity)`);
    const otherService = openTestDatabase(other.url, "other");
    await otherService.run(sql`insert into secrets default values`);
    expect(await otherService.query(sql`select id from secrets`)).toEqual([{ id: 1 }]);
    for (const stranger of [test.db, owner]) {
      await expect(stranger.query(sql`select id from other.secrets`)).rejects.toThrow("permission denied");
      await expect(stranger.run(rawSql("create table other.mine (id int)"))).rejects.toThrow(
        "permission denied",
      );
    }
    await expect(otherService.run(sql`drop table secrets`)).rejects.toThrow("must be owner");
    await expect(otherService.run(sql`truncate secrets`)).rejects.toThrow("permission denied");
    await Promise.all([otherOwner.close(), otherService.close()]);
  });

  it("refuses a name that is no plain identifier", async () => {
    await expect(provision('x"; drop schema sample; --')).rejects.toThrow("lower case letters, digits and _");
  });
});
