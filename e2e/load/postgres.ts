import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, sql } from "@wonrail/kit/db";
import { createLog } from "@wonrail/kit/log";
import { preparePostgres } from "@wonrail/local/parts/postgres";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { startGuard } from "@wonrail/local/process/guard";
import { startProcess } from "@wonrail/local/process/ownedProcess";

export interface BenchPostgres {
  adminUrl: string;
  label: string;
  stop(): Promise<void>;
}

/**
 * Durable settings (fsync and synchronous_commit on), with the memory and checkpoint distance of a
 * dedicated server. All differences from PostgreSQL's defaults are here.
 */
const SETTINGS = [
  "fsync=on",
  "synchronous_commit=on",
  "full_page_writes=on",
  "shared_buffers=2GB",
  "max_wal_size=16GB",
  "min_wal_size=2GB",
  "checkpoint_timeout=15min",
  "wal_compression=on",
  "wal_buffers=64MB",
  "max_connections=100",
];

/** `more` settings come last, and win. */
export async function startBenchPostgres(more: string[] = []): Promise<BenchPostgres> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-bench-"));
  chmodSync(dir, 0o711); // PostgreSQL may run as another user, which needs access.
  const guard = startGuard(dir);
  const part = await preparePostgres({
    dir: join(dir, "postgres"),
    logFile: join(dir, "postgres.log"),
    port: await randomFreePort(),
    password: randomBytes(16).toString("hex"),
    durable: true,
    maxConnections: 100,
  });
  const spec = {
    ...part.spec,
    args: (...given: Parameters<typeof part.spec.args>) => [
      ...part.spec.args(...given),
      ...[...SETTINGS, ...more].flatMap((setting) => ["-c", setting]),
    ],
  };
  const owned = await startProcess(spec, guard);
  return {
    adminUrl: part.adminUrl,
    label: part.label,
    async stop() {
      await owned.stop();
      guard.close();
      rmSync(dir, { recursive: true, force: true });
      rmSync(part.dataDir, { recursive: true, force: true });
    },
  };
}

const LOG_FILES = 200;

/**
 * Gives a new server the log files of an older one. Otherwise it creates each file of 16 MB while
 * commits wait, up to 0.4 s on a busy disk.
 */
export async function makeLogFiles(adminUrl: string): Promise<void> {
  const log = createLog({ service: "bench", level: "warn" });
  const db = openDatabase({ url: adminUrl, schema: "public", applicationName: "bench", max: 1, log });
  try {
    for (let file = 0; file < LOG_FILES; file += 1) {
      await db.query(sql`select pg_logical_emit_message(false, 'bench', 'one more file')`);
      await db.query(sql`select pg_switch_wal()`);
    }
    await db.run(sql`checkpoint`);
  } finally {
    await db.close();
  }
}
