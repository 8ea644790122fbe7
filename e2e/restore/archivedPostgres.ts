import { execFile } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Database, openDatabase, sql } from "@wonrail/kit/db";
import { eventually, testLog } from "@wonrail/kit/testing";
import { type PostgresPart, preparePostgres } from "@wonrail/local/parts/postgres";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { startGuard } from "@wonrail/local/process/guard";
import { type OwnedProcess, startProcess } from "@wonrail/local/process/ownedProcess";

/** A PostgreSQL with an archive of its log, which a test backs up, destroys and restores. */
export interface ArchivedPostgres {
  adminUrl: string;
  /** Takes a base backup while the server works. */
  backUp(): Promise<void>;
  /** The server's time, once everything before it is in the archive. */
  archivedUntil(): Promise<Date>;
  /** Kills the server and deletes its data. */
  destroy(): Promise<void>;
  /** Restores the base backup and the archive to this time, and takes connections again. */
  restoreTo(time: Date): Promise<void>;
  remove(): Promise<void>;
}

const MAX_CONNECTIONS = 200;
const ARCHIVED_MS = 60_000;
const RECOVERED_MS = 120_000;

export async function startArchivedPostgres(): Promise<ArchivedPostgres> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-restore-"));
  chmodSync(dir, 0o711); // PostgreSQL may run as another user, which needs access.
  const part = await preparePostgres({
    ...{ dir: join(dir, "postgres"), logFile: join(dir, "postgres.log"), port: await randomFreePort() },
    ...{ password: "test", durable: true, maxConnections: MAX_CONNECTIONS },
  });
  const [archive, backup] = [join(dir, "archive"), join(dir, "backup")];
  mkdirSync(archive);
  giveTo(part.dataDir, archive);
  const settings = ["wal_level=replica", "archive_mode=on", `archive_command=cp %p "${archive}/%f"`];
  const args = () => [...part.spec.args(), ...settings.flatMap((setting) => ["-c", setting])];
  const guard = startGuard();
  const start = () => startProcess({ ...part.spec, args }, guard);
  let owned: OwnedProcess = await start();
  return {
    adminUrl: part.adminUrl,
    backUp: () => onServer(part, (db) => backUp(db, part.dataDir, backup)),
    archivedUntil: () => onServer(part, archivedUntil),
    async destroy() {
      process.kill(owned.pid, "SIGKILL");
      await owned.exited;
      rmSync(part.dataDir, { recursive: true });
    },
    async restoreTo(time) {
      await copy(backup, part.dataDir);
      const recovery = [
        `restore_command = 'cp "${archive}/%f" "%p"'`,
        // The setting takes no "Z".
        `recovery_target_time = '${time.toISOString().replace("Z", "+00")}'`,
        "recovery_target_action = 'promote'",
      ];
      appendFileSync(join(part.dataDir, "postgresql.auto.conf"), `${recovery.join("\n")}\n`);
      writeOwned(part.dataDir, "recovery.signal", "");
      owned = await start();
      await onServer(part, untilPromoted);
    },
    async remove() {
      await owned.stop();
      guard.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The low-level backup of PostgreSQL's manual: start, copy, stop, in one session. */
async function backUp(db: Database, dataDir: string, backup: string): Promise<void> {
  await db.dedicated(async (session) => {
    await session.run(sql`select pg_backup_start('rehearsal', true)`);
    await copy(dataDir, backup);
    const { label } = await session.one<{ label: string }>(
      sql`select labelfile as label from pg_backup_stop(true)`,
    );
    writeOwned(backup, "backup_label", label);
  });
  for (const name of readdirSync(join(backup, "pg_wal"), { withFileTypes: true }))
    if (name.isFile()) rmSync(join(backup, "pg_wal", name.name));
  rmSync(join(backup, "postmaster.pid"), { force: true });
}

async function archivedUntil(db: Database): Promise<Date> {
  const { now } = await db.one<{ now: Date }>(sql`select clock_timestamp() as now`);
  // Recovery ends at the first commit after the time, so there must be one in the archive.
  await db.run(sql`select txid_current()`);
  const { file } = await db.one<{ file: string }>(sql`select pg_walfile_name(pg_current_wal_lsn()) as file`);
  await db.run(sql`select pg_switch_wal()`);
  await eventually(
    async () => {
      const { last } = await db.one<{ last: string | null }>(
        sql`select last_archived_wal as last from pg_stat_archiver`,
      );
      expect((last ?? "") >= file).toBe(true);
    },
    { timeoutMs: ARCHIVED_MS },
  );
  return now;
}

async function untilPromoted(db: Database): Promise<void> {
  await eventually(
    async () => {
      const state = await db.one<{ recovering: boolean }>(sql`select pg_is_in_recovery() as recovering`);
      expect(state.recovering).toBe(false);
    },
    { timeoutMs: RECOVERED_MS },
  );
}

/** Files that disappear during the copy are restored from the log. */
async function copy(from: string, to: string): Promise<void> {
  rmSync(to, { recursive: true, force: true });
  await promisify(execFile)("cp", ["-a", from, to]).catch(({ stderr = "" }: { stderr?: string }) => {
    const problems = stderr.split("\n").filter((line) => line !== "" && !line.includes("No such file"));
    if (problems.length > 0) throw new Error(problems.join("\n"));
  });
}

function writeOwned(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  writeFileSync(path, text);
  giveTo(folder, path);
}

/** Makes a path belong to the owner of another one. */
function giveTo(owned: string, path: string): void {
  const { uid, gid } = lstatSync(owned);
  chownSync(path, uid, gid);
}

async function onServer<T>({ adminUrl }: PostgresPart, work: (db: Database) => Promise<T>): Promise<T> {
  const name = "rehearsal";
  const db = openDatabase({ url: adminUrl, schema: "public", applicationName: name, max: 2, log: testLog() });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
