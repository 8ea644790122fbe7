import { openDatabase, rawSql, sql, tx, type Sql } from "../../db";
import { createLog } from "../../log";

const INSTALL_LOCK = 7_265_747;

/**
 * Makes the schema `bus` and lets the roles publish and consume there. May run again and again, and twice at once. A later change of the
 * tables is one more statement here that says `if not exists`.
 */
export async function installPostgresBus(adminUrl: string, roles: string[]): Promise<void> {
  const db = openDatabase({
    url: adminUrl,
    schema: "bus",
    applicationName: "install bus",
    max: 1,
    lockTimeoutMs: 60_000,
    log: createLog({ service: "install-bus", level: "warn" }),
  });
  try {
    await tx(db, async (tx) => {
      await tx.query(sql`select pg_advisory_xact_lock(${INSTALL_LOCK})`);
      for (const table of TABLES) await tx.run(table);
      for (const role of roles) {
        const name = sql.identifier(role);
        await tx.run(sql`grant usage on schema bus to ${name}`);
        await tx.run(sql`grant select, insert, update, delete on all tables in schema bus to ${name}`);
      }
    });
  } finally {
    await db.close();
  }
}

const TABLES: Sql[] = [
  rawSql("create schema if not exists bus"),
  rawSql(`
    create table if not exists bus.topics (
      name text primary key,
      partitions int not null check (partitions between 1 and 1000),
      created_at timestamptz not null default now()
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
      primary key (partition_id, position)
    )`),
  rawSql("alter table bus.messages drop constraint if exists messages_partition_id_fkey"),
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
