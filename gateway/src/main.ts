import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "@wonrail/kit/log";
import { createRegistry } from "@wonrail/kit/metrics";
import { startOps } from "@wonrail/kit/ops";
import { createShutdown } from "@wonrail/kit/shutdown";
import { readTls } from "@wonrail/kit/tls";
import { startTracing } from "@wonrail/kit/tracing";
import { createApp } from "./app";
import { createClients } from "./clients";
import { type Config, readConfig } from "./config";
import { startHttpServer } from "./middleware/httpServer";

/** The process's whole life: config → clients → app → doors → signals. */
async function run(config: Config): Promise<void> {
  const log = createLog({ service: "gateway", level: config.LOG_LEVEL });
  const registry = createRegistry({ service: "gateway", version: process.version, commit: config.COMMIT });
  const { SHUTDOWN_SETTLE_MS: settleMs, SHUTDOWN_GRACE_MS: graceMs } = config;
  const shutdown = createShutdown({ log, settleMs, graceMs });
  shutdown.listen();
  try {
    const tracing = startTracing(config, { service: "gateway", log });
    const clients = createClients(config, { log, registry, tls: readTls(config, registry) });
    const app = createApp({ config, clients, log, registry });
    const server = await startHttpServer(app.handler, {
      host: config.HTTP_HOST,
      port: config.HTTP_PORT,
      log,
      registry,
      maxConnections: config.MAX_CONNECTIONS,
      maxRequestsPerSocket: config.MAX_REQUESTS_PER_SOCKET,
      headersTimeoutMs: config.HEADERS_TIMEOUT_MS,
      requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
      keepAliveTimeoutMs: config.KEEP_ALIVE_TIMEOUT_MS,
      idleTimeoutMs: config.REQUEST_TIMEOUT_MS + config.REQUEST_BUDGET_MS,
    });
    const ops = await startOps({
      host: config.OPS_HOST,
      port: config.OPS_PORT,
      log,
      registry,
      // A later outage of auth must not make all gateways unready: cached keys still work.
      checks: { auth: () => app.ready() },
    });

    shutdown.add("readiness", async () => {
      ops.setDraining();
      await sleep(settleMs);
    });
    shutdown.add("http", () => {
      app.stopKeepingAlive();
      return server.drain(graceMs / 2);
    });
    shutdown.add("leases", () => app.close());
    shutdown.add("clients", () => clients.close());
    shutdown.add("ops", () => ops.close());
    if (tracing) shutdown.add("tracing", () => tracing.close());
    log.info({ httpPort: server.port, opsPort: ops.port }, "ready");
  } catch (error) {
    log.fatal({ err: error }, "could not start");
    process.exitCode = 1;
    await shutdown.run("start failed");
  }
}

void run(readConfig());
