import { type Bus, openBus, type Topic } from "../bus";
import { createLog, type Log } from "../log";
import { type Database, openDatabase, untilReachable } from "../db";
import { type GrpcService, startGrpcServer } from "../grpc/server";
import { letHeapGrow } from "../heap";
import { type ConsumerSpec } from "../inbox";
import { createRegistry, type Registry } from "../metrics";
import { assertMigrated } from "../migrate";
import { startOps } from "../ops";
import { type Expander, startOutboxRelay } from "../outbox";
import { createShutdown } from "../shutdown";
import { busPlace } from "./busPlace";
import { readTls, type TlsIdentity } from "../tls";
import { startTracing } from "../tracing";
import { callersOf } from "./callers";
import { type ServiceConfig } from "./config";
import { type Job, startJobs } from "./jobs";
import { joinBus } from "./joinBus";
import { watchStandby } from "./watchStandby";

/** What the kit makes for a service before the service makes anything itself. */
export interface ServiceParts<C extends ServiceConfig> {
  config: C;
  db: Database;
  log: Log;
  registry: Registry;
  /** Who this process is to those whom it calls; absent without TLS. */
  tls?: TlsIdentity | undefined;
  /** Called in the order of registration when the process stops, after the doors are closed. */
  onClose: (name: string, close: () => Promise<void> | void) => void;
}

/** A service's ways in. Each is a file of that name in the service's src. */
export interface Doors {
  rpc: GrpcService[];
  consumers: ConsumerSpec[];
  jobs: Job[];
  /** Builds the events of outbox rows that only say what they are about. */
  expander?: Expander;
  /** Dependencies without which the process should get no traffic, beyond its database. */
  ready?: Record<string, () => Promise<void>>;
  /** Called before the gRPC server drains: ends the streams that would go on for ever, so that it need not cut them. */
  endStreams?: () => void;
}

export interface ServiceSpec<C extends ServiceConfig> {
  name: string;
  /** The Postgres schema; the service's name unless that is no identifier. */
  schema?: string;
  migrations: string;
  /** Every topic that this service publishes, with its partition count. */
  topics: Topic[];
  config: C;
  /** `fail` is for what turns out later to be as wrong as what ends a start: the process stops, in order and with 1. */
  open: (parts: ServiceParts<C>, fail: (error: unknown) => void) => Doors | Promise<Doors>;
}

/** A process's whole life, the same for every service: config → pool → app → doors → signals. */
export async function runService<C extends ServiceConfig>(spec: ServiceSpec<C>): Promise<void> {
  letHeapGrow();
  const { config } = spec;
  const schema = spec.schema ?? spec.name;
  const log = createLog({ service: spec.name, level: config.LOG_LEVEL });
  const registry = createRegistry({ service: spec.name, version: process.version, commit: config.COMMIT });
  const { SHUTDOWN_SETTLE_MS: settleMs, SHUTDOWN_GRACE_MS: graceMs } = config;
  const shutdown = createShutdown({ log, settleMs, graceMs });
  shutdown.listen();

  try {
    const tls = readTls(config, registry);
    const tracing = startTracing(config, { service: spec.name, log });
    const db = openDatabase({
      url: config.DATABASE_URL,
      schema,
      applicationName: spec.name,
      max: config.DATABASE_POOL_MAX,
      log,
      registry,
    });
    await untilReachable(() => assertMigrated(db, spec.migrations), log);
    const bus = await openBus({ ...busPlace(config), clientId: spec.name, log, registry });

    const closers: [string, () => Promise<void>][] = [];
    const onClose = (name: string, close: () => Promise<void> | void) => {
      closers.push([name, async () => close()]);
    };
    const fail = (error: unknown): void => {
      log.fatal({ err: error }, "cannot go on");
      process.exitCode = 1;
      void shutdown.run("cannot go on");
    };
    const doors = await spec.open({ config, db, log, registry, tls, onClose }, fail);
    await openDoors({ config, tls, db, bus, topics: spec.topics, log, registry, shutdown, doors });
    for (const [name, close] of closers) shutdown.add(name, close);
    shutdown.add("bus", () => bus.close());
    shutdown.add("database", () => db.close());
    if (tracing) shutdown.add("tracing", () => tracing.close());
    log.info(
      { grpcPort: config.GRPC_PORT, opsPort: config.OPS_PORT, bus: bus.kind, mtls: tls !== undefined },
      "ready",
    );
  } catch (error) {
    log.fatal({ err: error }, "could not start");
    process.exitCode = 1;
    await shutdown.run("start failed");
  }
}

interface OpenDoors {
  config: ServiceConfig;
  tls: TlsIdentity | undefined;
  db: Database;
  bus: Bus;
  topics: Topic[];
  log: Log;
  registry: Registry;
  shutdown: ReturnType<typeof createShutdown>;
  doors: Doors;
}

/** Opens the doors inside out, and registers their closing outside in: nothing comes in once its way out is shut. */
async function openDoors(options: OpenDoors): Promise<void> {
  const { config, tls, db, bus, topics, log, registry, shutdown, doors } = options;
  // Not after the topics: it tries again by itself, and until then it measures what waits, for the alarm.
  const relay = startOutboxRelay({
    db,
    bus,
    log,
    registry,
    ...(doors.expander && { expander: doors.expander }),
  });
  const joined = joinBus({ db, bus, topics, consumers: doors.consumers, log, registry });
  const standby = config.DATABASE_STANDBY ? [watchStandby(db, { log, registry })] : [];
  const jobs = startJobs([...doors.jobs, ...standby], { log, registry });
  const server = await startGrpcServer({
    host: config.GRPC_HOST,
    port: config.GRPC_PORT,
    services: doors.rpc,
    callers: callersOf(doors.rpc),
    ...(tls && { tls }),
    reflection: config.GRPC_REFLECTION,
    log,
    registry,
  });
  const ops = await startOps({
    host: config.OPS_HOST,
    port: config.OPS_PORT,
    log,
    registry,
    // Not the bus: without it requests are still served, their events wait in the outbox, and an alarm tells of that.
    checks: { database: () => db.ping(), ...doors.ready },
    live: () => joined.live(),
  });

  shutdown.add("readiness", async () => {
    server.setServing(false);
    ops.setDraining();
    await new Promise((resolve) => setTimeout(resolve, config.SHUTDOWN_SETTLE_MS));
    doors.endStreams?.();
  });
  shutdown.add("grpc", () => server.drain(config.SHUTDOWN_GRACE_MS / 2));
  shutdown.add("consumers", () => joined.close());
  shutdown.add("jobs", () => jobs.close());
  shutdown.add("outbox", () => relay.close());
  shutdown.add("ops", () => ops.close());
}
