import { statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type HaSet } from "@wonrail/local/ha/haSet";
import { type Home } from "@wonrail/local/home";
import { preparePostgres } from "@wonrail/local/parts/postgres";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { type Guard } from "@wonrail/local/process/guard";
import { type OwnedProcess, startProcess } from "@wonrail/local/process/ownedProcess";
import { type Secrets } from "@wonrail/local/secrets";
import { missingSmallDiskReason, type Mounted, mountedUntilClosed } from "../../postgres/mountedDisk";

/** Fourteen processes with ten connections each, their listeners, the checker and migrators. */
const MAX_CONNECTIONS = 250;
const RESTART_MS = 60_000;
/** More than the longest run needs. Only used memory counts. */
const DISK_MB = 8_192;
const KEEP_FULL_EVERY_MS = 200;

export interface PostgresServer {
  host: string;
  port: number;
  adminUrl: string;
  /** Absent where this machine cannot mount a file system for the server. */
  disk?: Disk;
  /** The servers behind the address, if there are several. */
  ha?: HaSet;
  /** Kills the server without a shutdown. Its data is on disk. */
  kill(): Promise<void>;
  /** Starts the server when it is down, and waits until it takes connections. */
  start(): Promise<void>;
  close(): Promise<unknown>;
}

interface Disk {
  /** Leaves the server no free space, also after it deletes files, until `free`. */
  fill(): void;
  free(): void;
}

export async function startPostgres(home: Home, secrets: Secrets, guard: Guard): Promise<PostgresServer> {
  const dir = home.part("postgres");
  const mounted = missingSmallDiskReason() === undefined ? mountedUntilClosed(dir, DISK_MB) : undefined;
  const { spec, host, port, adminUrl } = await preparePostgres({
    dir: mounted ? join(mounted.folder, "postgres") : dir,
    logFile: home.log("postgres"),
    port: await randomFreePort(),
    password: secrets.password("postgres"),
    // Without it a killed server would lose acknowledged commits.
    durable: true,
    maxConnections: MAX_CONNECTIONS,
  });
  let owned: OwnedProcess;
  let isDown = true;
  async function launch(): Promise<void> {
    owned = await startProcess(spec, guard);
    isDown = false;
    void owned.exited.then(() => (isDown = true));
  }
  await launch();
  return {
    host,
    port,
    adminUrl,
    ...(mounted ? { disk: diskOn(mounted) } : {}),
    async kill() {
      process.kill(owned.pid, "SIGKILL");
      await owned.exited;
    },
    async start() {
      // The new server refuses to start until the last session of the killed one has ended.
      for (const endMs = Date.now() + RESTART_MS; ; await sleep(200)) {
        try {
          if (isDown) await launch();
          return await spec.probe();
        } catch (error) {
          if (Date.now() > endMs) throw error;
        }
      }
    },
    async close() {
      await owned.stop();
      await mounted?.close();
    },
  };
}

function diskOn({ folder, resize }: Mounted): Disk {
  const whole = statfsSync(folder);
  let keeping: NodeJS.Timeout | undefined;
  // The resizing fails when a file has grown meanwhile. The next one follows soon.
  const fill = (): void => {
    const { bsize, blocks, bfree } = statfsSync(folder);
    resize(bsize * (blocks - bfree));
  };
  return {
    fill() {
      fill();
      keeping = setInterval(fill, KEEP_FULL_EVERY_MS);
    },
    free() {
      clearInterval(keeping);
      resize(whole.bsize * whole.blocks);
    },
  };
}
