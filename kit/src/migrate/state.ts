import type { Migration, MigrationSet } from "./files";

export interface AppliedMigration {
  set: MigrationSet;
  number: number;
  name: string;
  checksum: string;
}

/** A file with executed first statements that is not completely applied. */
export interface UnfinishedMigration {
  set: MigrationSet;
  number: number;
  checksum: string;
  done: number;
}

/**
 * The files to apply. A file that was changed after it was applied stops everything, because the
 * schema's state is unknown then. Rows without a file after the last one are fine: an older release
 * beside a newer one.
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

/** A half-applied file was changed: its first statements are not the executed ones. */
export function refuseChangedHalfway(pending: Migration[], unfinished: UnfinishedMigration[]): void {
  const byKey = new Map(unfinished.map((row) => [keyOf(row), row]));
  for (const file of pending) {
    const row = byKey.get(keyOf(file));
    if (row === undefined || row.checksum === file.checksum) continue;
    throw new Error(
      `${listOf([file])}: changed after the first ${row.done} of its statements were run. Put the old text back; or, when the new one ` +
        "bears being run on what they left, delete its row in migration_progress.",
    );
  }
}

export function listOf(migrations: Migration[]): string {
  return migrations
    .map(({ set, number, name }) => `${set} ${String(number).padStart(4, "0")}_${name}`)
    .join(", ");
}

function keyOf({ set, number }: { set: MigrationSet; number: number }): string {
  return `${set} ${number}`;
}
