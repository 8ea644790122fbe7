import { type Database, openDatabase, rawSql, sql, tx } from "../../db";
import { createTestDatabase, eventually, openTestDatabase, type TestDatabase, testLog } from "../../testing";
import { installPostgresBus } from "../postgres";

const ROLE = "wonrail_bus_user";
/** As a backup holds it for as long as it takes. */
const IN_USE = sql`lock table bus.messages in access share mode`;

let database: TestDatabase;
let admin: Database;

beforeEach(async () => {
  database = await createTestDatabase({ schema: "bus_user" });
  await installPostgresBus(database.adminUrl, [ROLE]);
  admin = openDatabase({
    url: database.adminUrl,
    schema: "bus",
    applicationName: "test",
    lockTimeoutMs: 8_000,
    idleInTransactionTimeoutMs: 60_000,
    log: testLog(),
  });
});
afterEach(async () => {
  await admin.close();
  await database.drop();
});

describe("installing the bus", () => {
  it("asks for no lock when everything is there", async () => {
    await tx(admin, async (tx) => {
      await tx.run(IN_USE);
      await installPostgresBus(database.adminUrl, [ROLE]);
    });
  });

  it("writes no right that is there, and gives each that is not", async () => {
    const rights = () =>
      admin.query(sql`
        select relname, xmin::text, relacl::text from pg_class
        where relnamespace = 'bus'::regnamespace and relkind = 'r' order by relname`);
    const before = await rights();
    await installPostgresBus(database.adminUrl, [ROLE]);
    expect(await rights()).toEqual(before);

    await admin.run(rawSql(`revoke delete on bus.cursors from ${ROLE}`));
    await tx(admin, async (tx) => {
      await tx.run(IN_USE);
      await installPostgresBus(database.adminUrl, [ROLE]);
    });
    expect(
      await admin.one(sql`select has_table_privilege(${ROLE}::name, 'bus.cursors', 'delete') as may`),
    ).toEqual({
      may: true,
    });
  });

  it("brings tables of before to what they are today, and the topics that are there stay as they were", async () => {
    await admin.run(sql`insert into bus.topics (name, partitions) values ('old', 3)`);
    await admin.run(rawSql("alter table bus.topics drop column packed"));
    await admin.run(
      rawSql("alter table bus.messages drop column messages, alter column value set storage extended"),
    );
    await installPostgresBus(database.adminUrl, [ROLE]);
    expect(await admin.query(sql`select name, partitions, packed from bus.topics`)).toEqual([
      { name: "old", partitions: 3, packed: false },
    ]);
    const fresh = await createTestDatabase({ schema: "bus_user" });
    await installPostgresBus(fresh.adminUrl, [ROLE]);
    const other = openTestDatabase(fresh.adminUrl, "bus");
    expect(await columns(admin)).toEqual(await columns(other));
    expect(await columns(admin)).toContainEqual(
      expect.objectContaining({ attname: "value", attstorage: "e" }),
    );
    await other.close();
    await fresh.drop();
  });

  it("gives way with a change that is due, and gets on when the table is free", async () => {
    await admin.run(
      rawSql(`
      alter table bus.messages add constraint messages_partition_id_fkey
      foreign key (partition_id) references bus.partitions`),
    );
    let installing: Promise<void>;
    await tx(admin, async (tx) => {
      await tx.run(IN_USE);
      installing = installPostgresBus(database.adminUrl, [ROLE]);
      await eventually(async () => expect(await waiting()).toBe(1n));
      // Behind the change in the queue, until that gives way.
      await admin.query(sql`select from messages`);
    });
    await installing!;
    expect(
      await admin.query(sql`select from pg_constraint where conname = 'messages_partition_id_fkey'`),
    ).toEqual([]);
  });
});

function columns(of: Database): Promise<unknown[]> {
  return of.query(sql`
    select attrelid::regclass::text as table, attname, atttypid::regtype::text as type, attnotnull, attstorage, pg_get_expr(adbin, adrelid) as fallback,
      (select array_agg(pg_get_constraintdef(c.oid) order by 1) from pg_constraint c where c.conrelid = attrelid and attnum = any(c.conkey)) as constraints
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid in ('bus.topics'::regclass, 'bus.messages'::regclass) and attnum > 0 and not attisdropped order by 1, 2`);
}

async function waiting(): Promise<bigint> {
  const { count } = await admin.one<{ count: bigint }>(sql`
    select count(*) from pg_stat_activity
    where application_name = 'install bus' and datname = current_database() and wait_event_type = 'Lock'`);
  return count;
}
