import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
 * Durable (fsync and synchronous_commit on), with the memory and the checkpoint distance that one would give a ledger's own server. What
 * differs from PostgreSQL's defaults is here and nowhere else.
 */
export const SETTINGS = [
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

export async function startBenchPostgres(): Promise<BenchPostgres> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-bench-"));
  chmodSync(dir, 0o711); // PostgreSQL may run as another user, who has to pass.
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
      ...SETTINGS.flatMap((setting) => ["-c", setting]),
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
