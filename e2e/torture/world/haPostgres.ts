import { join } from "node:path";
import { rmSync } from "node:fs";
import { type HaSet, startHaSet } from "@wonrail/local/ha/haSet";
import { type Home } from "@wonrail/local/home";
import { type Guard } from "@wonrail/local/process/guard";
import { type Secrets } from "@wonrail/local/secrets";
import { type PostgresServer } from "./postgresServer";

/** A full disk has this file. */
export const BALLAST = "ballast";

/** Three servers under Patroni, behind the address of HAProxy. */
export async function startHaPostgres(home: Home, secrets: Secrets, guard: Guard): Promise<PostgresServer> {
  const password = secrets.password("postgres");
  const ha = await startHaSet({ password, guard, logsDir: join(home.logsDir, "ha") });
  return {
    ha,
    host: ha.host,
    port: ha.port,
    adminUrl: ha.adminUrl,
    kill: async () => (await ha.leader()).killPostgres(),
    start: () => healSet(ha),
    close: () => ha.close(),
  };
}

/** Ends every fault of the set, and waits until all its parts work. */
export async function healSet(ha: HaSet): Promise<void> {
  await ha.etcd.start();
  for (const { machine } of ha.nodes) {
    rmSync(join(machine.disk, BALLAST), { force: true });
    machine.join();
    machine.signal("SIGCONT");
  }
  await Promise.all(ha.nodes.map((node) => node.start()));
  await ha.untilHealthy();
}
