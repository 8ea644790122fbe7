import { FeedServiceService } from "@wonrail/proto/common/v1/feed";
import { actionsOf, createAdminService, watchProposals } from "../admin";
import { type Bus, openKafkaBus, readKafkaTopic, type ReadOnce, type Topic } from "../bus";
import { assert } from "../contract/errors";
import { createLog, type Log } from "../log";
import { type Database, openDatabase, untilReachable } from "../db";
import { createClient } from "../grpc/client";
import { type GrpcService, startGrpcServer } from "../grpc/server";
import { type ConsumerSpec, type FeedClient } from "../inbox";
import { createRegistry, type Registry } from "../metrics";
import { assertMigrated } from "../migrate";
import { startOps } from "../ops";
import { createFeed, type Feed, type OutboxRelay, startOutboxRelay } from "../outbox";
import { createShutdown } from "../shutdown";
import { readTls, type TlsIdentity } from "../tls";
import { startTracing } from "../tracing";
import { callersOf } from "./callers";
import { type ServiceConfig } from "./config";
import { type Job, startJobs } from "./jobs";
import { kafkaSettings } from "./kafkaSettings";
import { startConsumers } from "./startConsumers";
import { watchStandby } from "./watchStandby";

/** Parts that the kit creates for a service. */
export interface ServiceParts<C extends ServiceConfig> {
  config: C;
  db: Database;
  log: Log;
  registry: Registry;
  /** This process's certificate for its calls; absent without TLS. */
  tls?: TlsIdentity | undefined;
  /** Reads what Kafka keeps of this service's own topic. Absent without Kafka. */
  readOwnTopic?: ReadOwnTopic | undefined;
  /** Called in the order of registration when the process stops, after the doors are closed. */
  onClose: (name: string, close: () => Promise<void> | void) => void;
}

export type ReadOwnTopic = (read: Pick<ReadOnce, "since" | "handle">) => Promise<void>;

/** A service's ways in. Each is a file of that name in the service's src. */
export interface Doors {
  rpc: GrpcService[];
  consumers: ConsumerSpec[];
  jobs: Job[];
  /** Dependencies without which the process should get no traffic, beyond its database. */
  ready?: Record<string, () => Promise<void>>;
  /** Called before the gRPC server drains: ends endless streams, so that they need not be cut. */
  endStreams?: () => void;
}

/** The address of a topic's producer, which serves its feed. */
export interface FeedPlace {
  topic: string;
  /** The producer's name, which its certificate shows. */
  service: string;
  /** host:port */
  address: string;
}

export interface ServiceSpec<C extends ServiceConfig> {
  name: string;
  /** The Postgres schema; the service's name unless that is no identifier. */
  schema?: string;
  migrations: string;
  /** The feed of this service, with its number of partitions. None or one. */
  topics: Topic[];
  /** The producers of the topics that this service consumes. */
  feeds?: FeedPlace[];
  config: C;
  /** The largest request that the gRPC server takes. Absent: the kit's limit. */
  maxRequestBytes?: number;
  /**
   * `fail` stops the process, in order and with 1, for problems found later that would have
   * prevented the start.
   */
  open: (parts: ServiceParts<C>, fail: (error: unknown) => void) => Doors | Promise<Doors>;
}

/** A process's whole life, the same for every service: config → pool → app → doors → signals. */
export async function runService<C extends ServiceConfig>(spec: ServiceSpec<C>): Promise<void> {
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
    const place = kafkaSettings(config);
    const bus = place && openKafkaBus({ ...place, clientId: spec.name, log, registry });

    const closers: [string, () => Promise<void>][] = [];
    const onClose = (name: string, close: () => Promise<void> | void) => {
      closers.push([name, async () => close()]);
    };
    const fail = (error: unknown): void => {
      log.fatal({ err: error }, "cannot go on");
      process.exitCode = 1;
      void shutdown.run("cannot go on");
    };
    const [topic] = spec.topics;
    const readOwnTopic: ReadOwnTopic | undefined =
      place && topic
        ? (read) => readKafkaTopic({ ...place, clientId: spec.name, log }, { ...read, topic: topic.name })
        : undefined;
    const doors = await spec.open({ config, db, log, registry, tls, onClose, readOwnTopic }, fail);
    await openDoors({ spec, tls, db, bus, log, registry, shutdown, doors, fail });
    for (const [name, close] of closers) shutdown.add(name, close);
    if (bus) shutdown.add("bus", () => bus.close());
    shutdown.add("database", () => db.close());
    if (tracing) shutdown.add("tracing", () => tracing.close());
    log.info(
      { grpcPort: config.GRPC_PORT, opsPort: config.OPS_PORT, bus: config.BUS, mtls: tls !== undefined },
      "ready",
    );
  } catch (error) {
    log.fatal({ err: error }, "could not start");
    process.exitCode = 1;
    await shutdown.run("start failed");
  }
}

interface OpenDoors {
  spec: Pick<ServiceSpec<ServiceConfig>, "name" | "topics" | "feeds" | "config" | "maxRequestBytes">;
  tls: TlsIdentity | undefined;
  db: Database;
  bus: Bus | undefined;
  log: Log;
  registry: Registry;
  shutdown: ReturnType<typeof createShutdown>;
  doors: Doors;
  fail: (error: unknown) => void;
}

/** Opens the doors inside out, and registers their closing outside in. */
async function openDoors(options: OpenDoors): Promise<void> {
  const { spec, tls, db, bus, log, registry, shutdown, doors, fail } = options;
  const { config, topics } = spec;
  const { feed, relay } = startFeed(options);
  const feeds = openFeeds(options);
  const consumers = startConsumers({
    ...{ db, bus, topics, consumers: doors.consumers, log, registry, fail },
    feeds: feeds.clients,
  });
  const standby = config.DATABASE_STANDBY ? [watchStandby(db, { log, registry })] : [];
  const jobs = startJobs([...doors.jobs, ...standby, watchProposals(db, { registry })], { log, registry });
  const process = { db, service: spec.name, commit: config.COMMIT, topic: topics[0] };
  const admin = createAdminService(process, actionsOf(doors.rpc));
  const services = [...doors.rpc, admin, ...(feed ? [feed.service] : [])];
  const server = await startGrpcServer({
    host: config.GRPC_HOST,
    port: config.GRPC_PORT,
    services,
    callers: callersOf(spec.name, services),
    ...(tls && { tls }),
    reflection: config.GRPC_REFLECTION,
    ...(spec.maxRequestBytes !== undefined && { maxMessageBytes: spec.maxRequestBytes }),
    log,
    registry,
  });
  const ops = await startOps({
    host: config.OPS_HOST,
    port: config.OPS_PORT,
    log,
    registry,
    // Without Kafka: requests are served and the feeds deliver events while it is away.
    checks: { database: () => db.ping(), ...doors.ready },
    live: () => consumers.live(),
  });

  shutdown.add("readiness", async () => {
    server.setServing(false);
    ops.setDraining();
    await new Promise((resolve) => setTimeout(resolve, config.SHUTDOWN_SETTLE_MS));
    doors.endStreams?.();
    await feed?.close();
  });
  shutdown.add("grpc", () => server.drain(config.SHUTDOWN_GRACE_MS / 2));
  shutdown.add("consumers", () => consumers.close());
  shutdown.add("feeds", async () => feeds.close());
  shutdown.add("jobs", () => jobs.close());
  if (relay) shutdown.add("outbox", () => relay.close());
  shutdown.add("ops", () => ops.close());
}

/** A service that publishes no events has neither a feed nor a relay. */
function startFeed({ spec, db, bus, log, registry }: OpenDoors): { feed?: Feed; relay?: OutboxRelay } {
  const { config, topics } = spec;
  assert(topics.length <= 1, "a service publishes one feed");
  const [topic] = topics;
  if (!topic) return {};
  const retainMs = config.FEED_RETENTION_HOURS * 3_600_000;
  return {
    feed: createFeed({ db, topic }),
    relay: startOutboxRelay({ db, topic, bus, log, registry, retainMs }),
  };
}

const FEED_TIMEOUT_MS = 10_000;

/** The clients of the producers' feeds, by topic. */
function openFeeds({ spec, tls, log, registry }: OpenDoors): {
  clients: Record<string, FeedClient>;
  close(): void;
} {
  const clients = (spec.feeds ?? []).map(({ topic, service, address }) => {
    const options = { name: service, address, log, registry, tls, defaultTimeoutMs: FEED_TIMEOUT_MS };
    return { topic, client: createClient(FeedServiceService, options) };
  });
  return {
    clients: Object.fromEntries(clients.map(({ topic, client }) => [topic, client])),
    close: () => clients.forEach(({ client }) => client.close()),
  };
}
