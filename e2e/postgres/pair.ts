import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, openDatabase, rawSql, sql } from "@wonrail/kit/db";
import { eventually, testLog } from "@wonrail/kit/testing";
import { preparePostgres, type PostgresPart } from "@wonrail/local/parts/postgres";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { startGuard } from "@wonrail/local/process/guard";
import { runCommand } from "@wonrail/local/process/runCommand";
import { type OwnedProcess, signalGroup, startProcess } from "@wonrail/local/process/ownedProcess";

/** A primary and a synchronous stand-by, by PostgreSQL's own replication. */
export interface Pair {
  primary: PostgresPart;
  standby: PostgresPart;
  /**
   * Cuts the stand-by off for this long, so that nothing may be acknowledged, and then kills the
   * primary.
   */
  losePrimary(unheardMs: number): Promise<void>;
  promote(): Promise<void>;
  remove(): Promise<void>;
}

const PASSWORD = "test";
/** Not less than initdb has written for the primary: a stand-by refuses that. */
const MAX_CONNECTIONS = 100;
const REPLICATES = ["-c", "max_wal_senders=10", "-c", "wal_level=replica"];

export async function startPair(): Promise<Pair> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-pair-"));
  chmodSync(dir, 0o711); // PostgreSQL may run as another user, which needs access.
  const guard = startGuard(dir);
  const [primary, standby] = [await prepared(join(dir, "primary")), await prepared(join(dir, "standby"))];
  const owned: OwnedProcess[] = [];
  const remove = async (): Promise<void> => {
    await Promise.all(owned.map((each) => each.stop()));
    guard.close();
    for (const folder of [dir, primary.dataDir, standby.dataDir])
      rmSync(folder, { recursive: true, force: true });
  };
  try {
    follow(standby, primary);
    for (const { spec } of [primary, standby]) owned.push(await startProcess(spec, guard));
    await onServer(primary, waitForStandby);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    primary,
    standby,
    async losePrimary(unheardMs) {
      const [sender] = await onServer(primary, (db) =>
        db.query<{ pid: number }>(sql`select pid from pg_stat_replication`),
      );
      process.kill(sender!.pid, "SIGSTOP");
      await sleep(unheardMs);
      signalGroup(owned[0]!.pid, "SIGKILL");
      await owned[0]!.exited;
      // This process is in no group of ours, and does not notice the end of its server while it is
      // stopped.
      process.kill(sender!.pid, "SIGKILL");
    },
    promote: () => promote(standby),
    remove,
  };
}

async function prepared(dir: string): Promise<PostgresPart> {
  const part = await preparePostgres({
    ...{ dir, logFile: `${dir}.log`, port: await randomFreePort(), password: PASSWORD },
    ...{ durable: true, maxConnections: MAX_CONNECTIONS },
  });
  // The last of repeated settings wins.
  return { ...part, spec: { ...part.spec, args: () => [...part.spec.args(), ...REPLICATES] } };
}

/**
 * Makes a stand-by as from a base backup: a copy of the primary's folder after initdb, and the
 * connection for replication.
 */
function follow(standby: PostgresPart, primary: PostgresPart): void {
  rmSync(standby.dataDir, { recursive: true });
  copy(primary.dataDir, standby.dataDir);
  const source = `host=${primary.host} port=${primary.port} user=postgres password=${PASSWORD}`;
  appendFileSync(join(standby.dataDir, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
  // Only the file's owner matters, not its content.
  copy(join(standby.dataDir, "PG_VERSION"), join(standby.dataDir, "standby.signal"));
}

/** Not by SQL: our clients refuse a stand-by. */
async function promote({ spec, dataDir }: PostgresPart): Promise<void> {
  const pgCtl = join(dirname(spec.command), "pg_ctl");
  const { ok, problem } = await runCommand(pgCtl, ["promote", "-D", dataDir], { user: spec.user });
  if (!ok) throw new Error(problem);
}

/** Copies as PostgreSQL's user. */
function copy(from: string, to: string): void {
  const { status, stderr } = spawnSync("cp", ["-a", from, to]);
  if (status !== 0) throw new Error(String(stderr));
}

async function waitForStandby(db: Database): Promise<void> {
  await db.run(rawSql("alter system set synchronous_standby_names = '*'"));
  await db.run(rawSql("select pg_reload_conf()"));
  await eventually(async () => {
    const states = await db.query(sql`select sync_state from pg_stat_replication`);
    expect(states).toEqual([{ sync_state: "sync" }]);
  });
}

async function onServer<T>({ adminUrl }: PostgresPart, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({
    url: adminUrl,
    schema: "public",
    applicationName: "pair",
    max: 1,
    log: testLog(),
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
