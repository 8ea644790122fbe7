import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase, rawSql } from "@wonrail/kit/db";
import { testLog } from "@wonrail/kit/testing";
import { preparePostgres, type PostgresPart } from "@wonrail/local/parts/postgres";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { startGuard } from "@wonrail/local/process/guard";
import { startProcess } from "@wonrail/local/process/ownedProcess";
import { mountedUntilClosed } from "./mountedDisk";

/** A durable PostgreSQL on a small file system of its own. */
export interface SmallDisk {
  adminUrl: string;
  /**
   * Fills the disk, including space that becomes free, until `free`. Single pages stay
   * free, so that one writer succeeds and the next fails.
   */
  fill(): void;
  free(): void;
  /** Switches log files early, until the next one has no room and the server crashes. */
  useUpLog(): Promise<void>;
  /** Waits for recovery, and restarts the server when it has ended, like a supervisor. */
  untilUp(): Promise<void>;
  /** PostgreSQL's output. */
  log(): string;
  remove(): Promise<void>;
}

const DISK_MB = 256;
/** Limit of prepared log files. */
const MAX_LOG_FILES = 30;
const KEEP_FULL_EVERY_MS = 100;
const PAGE_BYTES = 8_192;
const UP_MS = 60_000;
const LOOK_EVERY_MS = 100;
const MAX_CONNECTIONS = 120;
const SMALL = ["max_wal_size=64MB", "min_wal_size=32MB", "shared_buffers=64MB"];

export async function startSmallDisk(): Promise<SmallDisk> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-disk-"));
  chmodSync(dir, 0o711); // PostgreSQL may run as another user, which needs access.
  const disk = mountedUntilClosed(dir, DISK_MB);
  const guard = startGuard();
  const log = join(dir, "postgres.log");
  const ballast = ballastIn(disk.folder);
  const start = async (spec: PostgresPart["spec"]) => {
    const owned = await startProcess(spec, guard);
    let ended = false;
    void owned.exited.then(() => (ended = true));
    return { stop: owned.stop, hasEnded: () => ended };
  };
  let server: Awaited<ReturnType<typeof start>> | undefined;
  const remove = async (): Promise<void> => {
    ballast.free();
    await server?.stop();
    guard.close();
    await disk.close();
  };
  try {
    const { adminUrl, spec } = await prepared(disk.folder, log);
    server = await start(spec);
    return {
      ...{ adminUrl, fill: ballast.fill, free: ballast.free, remove },
      log: () => readFileSync(log, "utf8"),
      useUpLog: () => switchLogs(adminUrl),
      async untilUp() {
        for (const endMs = Date.now() + UP_MS; ; await sleep(LOOK_EVERY_MS)) {
          if (server!.hasEnded()) server = await start(spec);
          const up = await spec.probe().then(
            () => true,
            () => false,
          );
          if (up) return;
          if (Date.now() > endMs) throw new Error(`PostgreSQL is not up:\n${readFileSync(log, "utf8")}`);
        }
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function prepared(disk: string, logFile: string): Promise<PostgresPart> {
  const part = await preparePostgres({
    ...{ dir: join(disk, "postgres"), logFile, port: await randomFreePort(), password: "test" },
    ...{ durable: true, maxConnections: MAX_CONNECTIONS },
  });
  if (!part.dataDir.startsWith(disk)) {
    rmSync(part.dataDir, { recursive: true });
    throw new Error("PostgreSQL's user cannot enter the temporary folder: set TMPDIR to one that it can.");
  }
  // The last of repeated settings wins.
  const args = () => [...part.spec.args(), ...SMALL.flatMap((setting) => ["-c", setting])];
  return { ...part, spec: { ...part.spec, args } };
}

function ballastIn(disk: string): Pick<SmallDisk, "fill" | "free"> {
  const file = join(disk, "ballast");
  let keeping: NodeJS.Timeout | undefined;
  const leavePage = () => {
    writeUntilFull(file);
    truncateSync(file, statSync(file).size - PAGE_BYTES);
  };
  return {
    fill() {
      writeUntilFull(file);
      keeping = setInterval(leavePage, KEEP_FULL_EVERY_MS);
    },
    free() {
      clearInterval(keeping);
      rmSync(file, { force: true });
    },
  };
}

function writeUntilFull(file: string): void {
  const block = Buffer.alloc(1 << 20, 1);
  const open = openSync(file, "a");
  try {
    for (let blocks = 0; blocks <= 2 * DISK_MB; blocks += 1) writeSync(open, block);
    throw new Error("The disk is larger than it was made.");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(open);
  }
}

/** Writes a message first, because an unused file is not switched. */
async function switchLogs(url: string): Promise<void> {
  const db = openDatabase({ url, schema: "public", applicationName: "disk", max: 1, log: testLog() });
  try {
    for (let files = 0; files < MAX_LOG_FILES; files += 1)
      await db.run(rawSql("select pg_logical_emit_message(false, 'disk', 'full'), pg_switch_wal()"));
  } catch {
    return; // The server has crashed, or crashes at the next write.
  } finally {
    await db.close();
  }
  throw new Error(`After ${MAX_LOG_FILES} files of the log there is still room.`);
}
