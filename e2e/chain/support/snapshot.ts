import { type Database, rawSql } from "@wonrail/kit/db";
import { openTestPool, type World } from "./world";

/** Copies the relayer's tables and cursors, and restores them later as from a backup. */
export async function takeSnapshot(world: World): Promise<{ restore(): Promise<void> }> {
  const tables = await onAdmin(world, async (db) => {
    const found = await db.query<{ name: string; columns: string }>(
      rawSql(`
        select table_name as name, string_agg(quote_ident(column_name), ', ') as columns
        from information_schema.columns
        where table_schema = 'chain_relayer' and is_generated = 'NEVER' group by table_name`),
    );
    await db.run(rawSql("create schema backup"));
    for (const { name, columns } of found)
      await db.run(rawSql(`create table backup.${name} as select ${columns} from chain_relayer.${name}`));
    return found;
  });
  return {
    restore: () =>
      onAdmin(world, async (db) => {
        // Uses one session, whose constraints are not checked in between.
        await db.dedicated(async (session) => {
          await session.run(rawSql("set session_replication_role = replica"));
          for (const { name, columns } of tables) {
            await session.run(rawSql(`delete from chain_relayer.${name}`));
            await session.run(
              rawSql(
                `insert into chain_relayer.${name} (${columns}) overriding system value select ${columns} from backup.${name}`,
              ),
            );
          }
          await session.run(rawSql("set session_replication_role = default"));
        });
      }),
  };
}

async function onAdmin<T>({ adminUrl }: World, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openTestPool(adminUrl, "public");
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
