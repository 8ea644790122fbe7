import type { Migration, MigrationSet } from "./files";

export interface AppliedMigration {
  set: MigrationSet;
  number: number;
  name: string;
  checksum: string;
}

/**
 * What is still to be applied. A file that was changed after it was applied stops everything: nobody can say what the schema is then.
 * Rows without a file are fine when they come after the last file: that is an older release beside a newer one.
 */
export function pendingMigrations(files: Migration[], applied: AppliedMigration[]): Migration[] {
  const byKey = new Map(applied.map((row) => [keyOf(row), row]));
  const changed = files.filter((file) => {
    const row = byKey.get(keyOf(file));
    return row !== undefined && row.checksum !== file.checksum;
  });
  if (changed.length > 0) {
    throw new Error(
      `${listOf(changed)}: changed after being applied. Put the old text back and write a new migration for what should change.`,
    );
  }
  return files.filter((file) => !byKey.has(keyOf(file)));
}

export function listOf(migrations: Migration[]): string {
  return migrations
    .map(({ set, number, name }) => `${set} ${String(number).padStart(4, "0")}_${name}`)
    .join(", ");
}

function keyOf({ set, number }: { set: MigrationSet; number: number }): string {
  return `${set} ${number}`;
}
