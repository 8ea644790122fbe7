import type { Client } from "pg";
import type { Migration } from "./files";
import type { UnfinishedMigration } from "./state";

/**
 * Progress of a file that is not one transaction. The row exists from its first statement until the
 * whole file is applied.
 */
export async function readUnfinished(client: Client): Promise<UnfinishedMigration[]> {
  await client.query(`
    create table if not exists migration_progress (
      set text not null,
      number integer not null,
      checksum text not null,
      done integer not null,
      primary key (set, number)
    )`);
  const { rows } = await client.query<UnfinishedMigration>(
    "select set, number, checksum, done from migration_progress",
  );
  return rows;
}

/** How many of the file's statements are done. */
export async function readDone(client: Client, { set, number }: Migration): Promise<number> {
  const { rows } = await client.query<{ done: number }>(
    "select done from migration_progress where set = $1 and number = $2",
    [set, number],
  );
  return rows[0]?.done ?? 0;
}

export async function writeDone(
  client: Client,
  { set, number, checksum }: Migration,
  done: number,
): Promise<void> {
  await client.query(
    `insert into migration_progress (set, number, checksum, done) values ($1, $2, $3, $4)
     on conflict (set, number) do update set done = excluded.done`,
    [set, number, checksum, done],
  );
}

export async function forgetProgress(client: Client, { set, number }: Migration): Promise<void> {
  await client.query("delete from migration_progress where set = $1 and number = $2", [set, number]);
}
