import { openDatabase, rawSql, sql, type Queryable, type Sql } from "../../db";
import { givingWay, LOCK_TIMEOUT_MS, waitForTurn } from "../../db/giveWay";
import { createLog } from "../../log";

const INSTALL_LOCK = 7_265_747;

/**
 * Makes the schema `bus` and lets the roles publish and consume there. May run again and again, and twice at once. All of the bus's traffic waits behind
 * whoever waits for a table's lock, so what is there already is not touched: a later change of the tables is one more entry in CHANGES.
 */
export async function installPostgresBus(adminUrl: string, roles: string[]): Promise<void> {
  const log = createLog({ service: "install-bus", level: "warn" });
  const db = openDatabase({
    url: adminUrl,
    schema: "bus",
    applicationName: "install bus",
    max: 1,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    log,
  });
  try {
    await db.dedicated(async (connection) => {
      await waitForTurn(() => tryLock(connection), "bus");
      await givingWay(
        () => install(connection, roles),
        (attempt) => log.warn({ attempt }, "a change of the bus's tables waits for a lock that others hold"),
      );
    });
  } finally {
    await db.close();
  }
}

/** Until the connection is closed, also while it gives way: attempts in turns by several would leave the traffic no gap. */
async function tryLock(connection: Queryable): Promise<boolean> {
  const { mine } = await connection.one<{ mine: boolean }>(sql`
    select pg_try_advisory_lock(${INSTALL_LOCK}) as mine`);
  return mine;
}

/** Not one transaction: each statement is done only when it is needed, so another attempt goes on where this one stopped. */
async function install(connection: Queryable, roles: string[]): Promise<void> {
  for (const table of TABLES) await connection.run(table);
  for (const { isDue, statement } of CHANGES) {
    const { due } = await connection.one<{ due: boolean }>(isDue);
    if (due) await connection.run(statement);
  }
  for (const role of roles) await grantRights(connection, role);
}

/** Even a right that is there already is written to the catalog, and every session then plans anew. */
async function grantRights(connection: Queryable, role: string): Promise<void> {
  const { granted } = await connection.one<{ granted: boolean }>(sql`
    select has_schema_privilege(${role}, 'bus', 'usage') and not exists (
      select from pg_tables, unnest(array['select', 'insert', 'update', 'delete']) as needed
      where schemaname = 'bus' and not has_table_privilege(${role}, format('bus.%I', tablename), needed)
    ) as granted`);
  if (granted) return;
  const name = sql.identifier(role);
  await connection.run(sql`grant usage on schema bus to ${name}`);
  await connection.run(sql`grant select, insert, update, delete on all tables in schema bus to ${name}`);
}

const TABLES: Sql[] = [
  rawSql("create schema if not exists bus"),
  rawSql(`
    create table if not exists bus.topics (
      name text primary key,
      partitions int not null check (partitions between 1 and 1000),
      created_at timestamptz not null default now(),
      -- Whether one row may hold many messages.
      packed boolean not null default false
    )`),
  // Whoever appends holds the row's lock until it commits, so positions have no gaps and become visible in their order.
  rawSql(`
    create table if not exists bus.partitions (
      id int generated always as identity primary key,
      topic text not null references bus.topics on delete cascade,
      number int not null,
      next_position bigint not null default 0,
      unique (topic, number)
    ) with (fillfactor = 50)`),
  // Whoever appends has locked the partition: a foreign key would look for it again for each message, which doubled what one costs.
  rawSql(`
    create table if not exists bus.messages (
      partition_id int not null,
      position bigint not null,
      key text not null,
      value bytea not null,
      headers json not null,
      stored_at timestamptz not null,
      -- More than one: the value is a StoredMessages, the position that of its first.
      messages int not null default 1 check (messages > 0),
      primary key (partition_id, position)
    )`),
  // A group's place in a partition, and the one member that may move it. The epoch tells two ownerships of one member apart.
  rawSql(`
    create table if not exists bus.cursors (
      group_name text not null,
      partition_id int not null references bus.partitions on delete cascade,
      position bigint not null,
      owner text,
      epoch bigint not null,
      primary key (group_name, partition_id)
    ) with (fillfactor = 50)`),
  // Who is alive. Lost in a crash and written anew by the next heartbeats, so a heartbeat costs no write to the log.
  rawSql(`
    create unlogged table if not exists bus.members (
      group_name text not null,
      member_id text not null,
      topics text[] not null,
      alive_until timestamptz not null,
      primary key (group_name, member_id)
    )`),
];

interface Change {
  /** Asks the catalog, which takes no lock on the table. */
  isDue: Sql;
  statement: Sql;
}

const CHANGES: Change[] = [
  {
    isDue: sql`
      select exists (
        select from pg_constraint
        where conrelid = 'bus.messages'::regclass and conname = 'messages_partition_id_fkey'
      ) as due`,
    statement: rawSql("alter table bus.messages drop constraint if exists messages_partition_id_fkey"),
  },
  {
    isDue: lacks("topics", "packed"),
    statement: rawSql(
      "alter table bus.topics add column if not exists packed boolean not null default false",
    ),
  },
  {
    isDue: lacks("messages", "messages"),
    statement: rawSql(
      "alter table bus.messages add column if not exists messages int not null default 1 check (messages > 0)",
    ),
  },
  // Many messages in a row are larger than a quarter of a page, and Postgres would compress them, which takes several times as long as storing them.
  {
    isDue: sql`
      select exists (
        select from pg_attribute where attrelid = 'bus.messages'::regclass and attname = 'value' and attstorage <> 'e'
      ) as due`,
    statement: rawSql("alter table bus.messages alter column value set storage external"),
  },
];

function lacks(table: string, column: string): Sql {
  return sql`
    select not exists (
      select from pg_attribute where attrelid = format('bus.%I', ${table}::text)::regclass and attname = ${column} and not attisdropped
    ) as due`;
}
