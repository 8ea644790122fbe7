import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql, tx, type Database } from "../db";
import {
  createTestDatabase,
  eventually,
  openTestDatabase,
  startProxy,
  testLog,
  type TestDatabase,
} from "../testing";
import { assertMigrated, migrate } from ".";

let test: TestDatabase;
let dir: string;
let owner: Database;

beforeEach(async () => {
  test = await createTestDatabase({ schema: "sample" });
  owner = openTestDatabase(test.ownerUrl, "sample");
  dir = mkdtempSync(join(tmpdir(), "migrations-"));
  write("0001_places.sql", "create table places (id integer, name text);\ncreate table notes (id integer);");
  await run();
});
afterEach(async () => {
  await owner.close();
  await test.drop();
  rmSync(dir, { recursive: true });
});

const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
const run = (url = test.ownerUrl) => migrate({ url, schema: "sample", dir, log: testLog() });

const LEAN = `-- no-transaction
-- A comment of the migration.
drop index concurrently if exists places_by_id;
create index concurrently places_by_id on places (id);
alter table notes drop constraint if exists notes_short;
alter table notes add constraint notes_short check (id < 100) not valid;
alter table notes validate constraint notes_short;
`;
const UNIQUE = `-- no-transaction
drop index concurrently if exists places_by_id;
create unique index concurrently places_by_id on places (id);
`;

/** Without a snapshot, for which a build would wait. */
const IN_USE = sql`lock table notes in access share mode`;

describe("a migration that cannot be one transaction", () => {
  it("resumes at the statement that waited for a lock, and keeps the built index", async () => {
    write("0002_lean.sql", LEAN);
    let migrating: ReturnType<typeof run>;
    let first: string;
    await tx(test.db, async (tx) => {
      await tx.run(IN_USE);
      migrating = run();
      first = await indexThatIs({ valid: true });
      // Longer than one attempt waits.
      await tx.query(sql`select pg_sleep(3)`);
    });
    expect((await migrating!).applied).toMatchObject([{ number: 2, name: "lean" }]);
    expect(await findIndex()).toEqual({ oid: first!, valid: true });
    expect(await owner.query(sql`select from migration_progress`)).toEqual([]);
  });

  it("resumes in another process after a kill", async () => {
    write("0002_lean.sql", LEAN);
    const first = await killedAtItsThirdStatement();
    await expect(assertMigrated(test.db, dir)).rejects.toThrow(
      "run its migrations first (service 0002_lean)",
    );
    expect((await run()).applied).toMatchObject([{ number: 2 }]);
    expect(await findIndex()).toEqual({ oid: first, valid: true });
    await assertMigrated(test.db, dir);
  });

  it("refuses to resume a file that was changed meanwhile", async () => {
    write("0002_lean.sql", LEAN);
    await killedAtItsThirdStatement();
    write("0002_lean.sql", LEAN.replace("(id)", "(name)"));
    await expect(run()).rejects.toThrow(
      "service 0002_lean: changed after the first 2 of its statements were run. Put the old text back",
    );
    write("0002_lean.sql", LEAN);
    expect((await run()).applied).toHaveLength(1);
  });

  it("rebuilds an invalid index", async () => {
    write("0002_unique.sql", UNIQUE);
    await test.db.run(sql`insert into places values (1), (1)`);
    await expect(run()).rejects.toThrow("could not create unique index");
    expect(await findIndex()).toMatchObject({ valid: false });
    await test.db.run(sql`delete from places`);
    expect((await run()).applied).toHaveLength(1);
    expect(await findIndex()).toMatchObject({ valid: true });
  });

  it("keeps an index that the server finished after its migrator was gone", async () => {
    write("0002_unique.sql", UNIQUE);
    const { hostname: host, port } = new URL(test.ownerUrl);
    const proxy = await startProxy({ target: { host, port: Number(port) } });
    const url = Object.assign(new URL(test.ownerUrl), { hostname: proxy.host, port: proxy.port }).toString();
    let begun: string;
    try {
      await tx(test.db, async (tx) => {
        await tx.run(sql`insert into places values (1)`);
        const migrating = run(url);
        const cut = expect(migrating).rejects.toThrow("migration service 0002_unique");
        begun = await indexThatIs({ valid: false });
        proxy.setMode({ kind: "reset" });
        await cut;
      });
    } finally {
      await proxy.close();
    }
    expect((await run()).applied).toHaveLength(1);
    expect(await findIndex()).toEqual({ oid: begun!, valid: true });
  });

  it("waits within one build for an older transaction without a limit", async () => {
    write("0002_unique.sql", UNIQUE);
    let migrating: ReturnType<typeof run>;
    let begun: string;
    await tx(test.db, async (tx) => {
      await tx.run(sql`insert into places values (1)`);
      migrating = run();
      begun = await indexThatIs({ valid: false });
      // Longer than a lock may be waited for.
      await tx.query(sql`select pg_sleep(3)`);
    });
    expect((await migrating!).applied).toHaveLength(1);
    expect(await findIndex()).toEqual({ oid: begun!, valid: true });
  });

  it("limits the wait for a lock after a build as in any migration", async () => {
    write(
      "0002_noted.sql",
      `-- no-transaction
create index concurrently places_by_id on places (id);
insert into places (name) values (current_setting('lock_timeout'));
`,
    );
    await run();
    expect(await owner.query(sql`select name from places`)).toEqual([{ name: "2s" }]);
  });

  it("runs a statement alone when it ends transactions itself", async () => {
    write("0002_vacuum.sql", "-- no-transaction\nvacuum places;\ndo $$ begin commit; end $$;\n");
    expect((await run()).applied).toHaveLength(1);
  });

  it("creates the progress table in a schema that lacks it", async () => {
    await owner.run(sql`drop table migration_progress`);
    write("0002_lean.sql", LEAN);
    expect((await run()).applied).toHaveLength(1);
  });
});

/** Returns the index that was built before. */
async function killedAtItsThirdStatement(): Promise<string> {
  return tx(test.db, async (tx) => {
    await tx.run(IN_USE);
    const migrating = run();
    const killed = expect(migrating).rejects.toThrow("terminating connection");
    const built = await indexThatIs({ valid: true });
    await eventually(async () => {
      const { waiting } = await owner.one<{ waiting: bigint }>(sql`
        select count(pg_terminate_backend(pid)) as waiting from pg_stat_activity
        where application_name = 'migrate sample' and datname = current_database() and wait_event_type = 'Lock'
          and query like 'alter table notes%'`);
      expect(waiting).toBe(1n);
    });
    await killed;
    return built;
  });
}

async function indexThatIs(state: { valid: boolean }): Promise<string> {
  return eventually(async () => {
    const found = await findIndex();
    expect(found).toMatchObject(state);
    return found!.oid;
  });
}

function findIndex(): Promise<{ oid: string; valid: boolean } | undefined> {
  return owner.maybe(sql`
    select indexrelid::text as oid, indisvalid as valid from pg_index where indexrelid = to_regclass('places_by_id')`);
}
