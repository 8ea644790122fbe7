import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The numbering of a migration: the tables that the kit brings, or the service's own. */
export type MigrationSet = "kit" | "service";

export interface Migration {
  set: MigrationSet;
  number: number;
  name: string;
  checksum: string;
  text: string;
  /**
   * False for statements that Postgres refuses inside a transaction, such as CREATE INDEX
   * CONCURRENTLY.
   */
  transactional: boolean;
}

export type AppliedMigration = Pick<Migration, "set" | "number" | "name" | "checksum">;

const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const NO_TRANSACTION = "-- no-transaction";
/** Beside src in the repository, beside dist in an image. */
const KIT_DIR = join(__dirname, "..", "..", "migrations");

/** The kit's set and then the service's, each in order. */
export function readMigrations(serviceDir: string | undefined): Migration[] {
  const kit = readSet("kit", KIT_DIR);
  return serviceDir === undefined ? kit : [...kit, ...readSet("service", serviceDir)];
}

export function readSet(set: MigrationSet, dir: string): Migration[] {
  if (!existsSync(dir)) throw new Error(`there is no migrations folder at ${dir}`);
  const names = readdirSync(dir).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name, index) => readMigration(set, dir, name, index + 1));
}

function readMigration(set: MigrationSet, dir: string, fileName: string, expected: number): Migration {
  const match = FILE_NAME.exec(fileName);
  if (!match) throw new Error(`${fileName}: a migration is named like 0001_what_it_does.sql`);
  const number = Number(match[1]);
  if (number !== expected) {
    throw new Error(
      `${fileName}: migrations are numbered without gaps or twins, expected number ${expected}`,
    );
  }
  // A checkout that turns line ends into CRLF holds the same migration.
  const text = readFileSync(join(dir, fileName), "utf8").replaceAll("\r\n", "\n");
  const checksum = createHash("sha256").update(text).digest("hex");
  return { set, number, name: match[2]!, checksum, text, transactional: !text.startsWith(NO_TRANSACTION) };
}

/**
 * Statements of a file that runs outside of a transaction: each ends with a semicolon at the end of
 * a line.
 */
export function statementsOf(text: string): string[] {
  return text
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement.split("\n").some((line) => line !== "" && !line.startsWith("--")));
}

/**
 * The files that are still to be applied. Throws when a file was changed after it was applied, since the
 * schema is then unknown. A row behind the last file is fine: an older release runs beside a newer one.
 */
export function pendingMigrations(files: Migration[], applied: AppliedMigration[]): Migration[] {
  const checksums = new Map(applied.map(({ set, number, checksum }) => [`${set} ${number}`, checksum]));
  const checksumOf = ({ set, number }: Migration) => checksums.get(`${set} ${number}`);
  const changed = files.filter((file) => (checksumOf(file) ?? file.checksum) !== file.checksum);
  if (changed.length > 0) {
    throw new Error(
      `${listOf(changed)}: changed after being applied. Put the old text back and write a new migration for what should change.`,
    );
  }
  return files.filter((file) => checksumOf(file) === undefined);
}

export function listOf(migrations: Migration[]): string {
  return migrations
    .map(({ set, number, name }) => `${set} ${String(number).padStart(4, "0")}_${name}`)
    .join(", ");
}
