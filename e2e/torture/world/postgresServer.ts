import { setTimeout as sleep } from "node:timers/promises";
import { type HaSet } from "@wonrail/local/ha/haSet";
import { type Home } from "@wonrail/local/home";
import { preparePostgres } from "@wonrail/local/parts/postgres";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { type Guard } from "@wonrail/local/process/guard";
import { type OwnedProcess, startProcess } from "@wonrail/local/process/ownedProcess";
import { type Secrets } from "@wonrail/local/secrets";

/** Fourteen processes with ten connections each, their listeners, the checker and migrators. */
const MAX_CONNECTIONS = 250;
const RESTART_MS = 60_000;

export interface PostgresServer {
  host: string;
  port: number;
  adminUrl: string;
  /** The servers behind the address, if there are several. */
  ha?: HaSet;
  /** Kills the server without a shutdown. Its data is on disk. */
  kill(): Promise<void>;
  /** Starts a killed server and waits until it takes connections. */
  start(): Promise<void>;
  close(): Promise<unknown>;
}

export async function startPostgres(home: Home, secrets: Secrets, guard: Guard): Promise<PostgresServer> {
  const { spec, host, port, adminUrl } = await preparePostgres({
    dir: home.part("postgres"),
    logFile: home.log("postgres"),
    port: await randomFreePort(),
    password: secrets.password("postgres"),
    // Without it a killed server would lose acknowledged commits.
    durable: true,
    maxConnections: MAX_CONNECTIONS,
  });
  let owned: OwnedProcess = await startProcess(spec, guard);
  let isKilled = false;
  return {
    host,
    port,
    adminUrl,
    async kill() {
      isKilled = true;
      process.kill(owned.pid, "SIGKILL");
      await owned.exited;
    },
    async start() {
      // The new server refuses to start until the last session of the killed one has ended.
      for (const endMs = Date.now() + RESTART_MS; isKilled; await sleep(200)) {
        try {
          owned = await startProcess(spec, guard);
          isKilled = false;
        } catch (error) {
          if (Date.now() > endMs) throw error;
        }
      }
    },
    close: () => owned.stop(),
  };
}
