import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase, untilReachable } from "@wonrail/kit/db";
import { createLog } from "@wonrail/kit/log";
import { createRegistry } from "@wonrail/kit/metrics";
import { assertMigrated } from "@wonrail/kit/migrate";
import { startOps } from "@wonrail/kit/ops";
import { startJobs } from "@wonrail/kit/service";
import { createShutdown } from "@wonrail/kit/shutdown";
import { readTls } from "@wonrail/kit/tls";
import { startTracing } from "@wonrail/kit/tracing";
import { createApp } from "./app";
import { type Config, readConfig } from "./config";
import { startHttpServer } from "./httpServer";

const MIGRATIONS = join(__dirname, "..", "migrations");
const DELETE_OLD_EVERY_MS = 3_600_000;

/** The process's whole life: config → database → app → doors → signals. */
async function run(config: Config): Promise<void> {
  const log = createLog({ service: "console", level: config.LOG_LEVEL });
  const registry = createRegistry({ service: "console", version: process.version, commit: config.COMMIT });
  const { SHUTDOWN_SETTLE_MS: settleMs, SHUTDOWN_GRACE_MS: graceMs } = config;
  const shutdown = createShutdown({ log, settleMs, graceMs });
  shutdown.listen();
  try {
    const tracing = startTracing(config, { service: "console", log });
    const db = openDatabase({
      url: config.DATABASE_URL,
      schema: "console",
      applicationName: "console",
      max: config.DATABASE_POOL_MAX,
      log,
      registry,
    });
    await untilReachable(() => assertMigrated(db, MIGRATIONS), log);
    const app = createApp({ config, db, log, registry, tls: readTls(config, registry) });
    const jobs = startJobs(
      [{ name: "delete_old_sessions", everyMs: DELETE_OLD_EVERY_MS, run: () => app.deleteOld() }],
      { log, registry },
    );
    const server = await startHttpServer(app.handler, { host: config.HTTP_HOST, port: config.HTTP_PORT });
    const ops = await startOps({
      host: config.OPS_HOST,
      port: config.OPS_PORT,
      log,
      registry,
      // Without the services the console still shows which of them are away.
      checks: { database: () => db.ping() },
    });

    shutdown.add("readiness", async () => {
      ops.setDraining();
      await sleep(settleMs);
    });
    shutdown.add("app", () => app.close());
    shutdown.add("http", () => server.drain(graceMs / 4));
    shutdown.add("jobs", () => jobs.close());
    shutdown.add("ops", () => ops.close());
    shutdown.add("database", () => db.close());
    if (tracing) shutdown.add("tracing", () => tracing.close());
    log.info({ httpPort: server.port, opsPort: ops.port, url: config.PUBLIC_URL }, "ready");
  } catch (error) {
    log.fatal({ err: error }, "could not start");
    process.exitCode = 1;
    await shutdown.run("start failed");
  }
}

void run(readConfig());
