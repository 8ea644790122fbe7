import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { newName } from "../bus/testing/kafka";
import { joinAsStranger } from "../bus/testing/stranger";
import { tx } from "../db";
import { createClient } from "../grpc/client";
import { Registry } from "../metrics";
import { appendEvents } from "../outbox";
import {
  createTestDatabase,
  eventually,
  type Proxy,
  startProxy,
  testLog,
  type TestDatabase,
} from "../testing";

const brokers = process.env.WONRAIL_TEST_KAFKA_BROKERS;
/** Shorter than one attempt to reach a silent broker. */
const GRACE_MS = 8_000;
const VERSION = 1;
const STEPS = [
  "readiness",
  "grpc",
  "consumers",
  "feeds",
  "jobs",
  "outbox",
  "ops",
  "sample",
  "bus",
  "database",
];
const WITHOUT_KAFKA = STEPS.filter((step) => step !== "bus");

let database: TestDatabase;
let proxy: Proxy;
let service: Service;

beforeEach(async () => {
  database = await createTestDatabase({ schema: "sample" });
});
afterEach(async () => {
  service.client.close();
  service.child.kill("SIGKILL");
  await database.drop();
});

test("a service whose settling outlasts its grace answers the calls that came meanwhile", async () => {
  const place = { BUS: "feed", DATABASE_URL: database.url, SAMPLE_TOPIC: newName("topic") };
  const times = { SHUTDOWN_SETTLE_MS: "3000", SHUTDOWN_GRACE_MS: "2000", SAMPLE_CALL_MS: "3300" };
  service = await startService({ ...place, ...times });
  const call = service.client.revokeKey({ orgId: "org_1", keyId: "key_1", clientAddress: "" });
  await eventually(() => expect(service.lines).toContain("called"));
  const stopped = service.stop();
  await expect(call).resolves.toMatchObject({ revokedAt: expect.any(Date) });
  expect(await stopped).toBe(0);
});

test.each(["exception", "rejection"])(
  "an uncaught %s logs one fatal line, drains the calls in flight and ends the process with 1",
  async (kind) => {
    const place = { BUS: "feed", DATABASE_URL: database.url, SAMPLE_TOPIC: newName("topic") };
    service = await startService({ ...place, SAMPLE_LEAKS: kind, SAMPLE_CALL_MS: "500" });
    const exited = once(service.child, "exit");
    const call = service.client.revokeKey({ orgId: "org_1", keyId: "key_1", clientAddress: "" });
    await expect(call).resolves.toMatchObject({ revokedAt: expect.any(Date) as Date });
    expect(await exited).toEqual([1, null]);
    expect(service.logged("uncaught error")).toMatchObject([
      { level: "fatal", err: { message: `leaked ${kind}` } },
    ]);
    expect(service.closed()).toEqual(WITHOUT_KAFKA);
  },
);

describe("when the database is unreachable at first", () => {
  let place: Record<string, string>;
  beforeEach(async () => {
    const { hostname: host, port } = new URL(database.url);
    proxy = await startProxy({ target: { host, port: Number(port) }, mode: { kind: "reset" } });
    place = { BUS: "feed", DATABASE_URL: database.url.replace(`:${port}/`, `:${proxy.port}/`) };
    service = await launch({ ...place, SAMPLE_TOPIC: newName("topic") });
    await eventually(() => expect(service.logged("waiting for the database")).not.toEqual([]), PATIENT);
  });
  afterEach(() => proxy.close());

  test("a start waits for it", async () => {
    proxy.setMode({ kind: "pass" });
    await isReady(service);
    expect(await service.stop()).toBe(0);
  });

  test("a waiting start can be stopped", async () => {
    expect(await service.stop()).toBe(0);
  });
});

test("a start ends at once with 1 when the database refuses the password", async () => {
  const url = new URL(database.url);
  url.password = "another";
  service = await launch({ BUS: "feed", DATABASE_URL: url.href, SAMPLE_TOPIC: newName("topic") });
  expect(await once(service.child, "exit")).toEqual([1, null]);
  expect(service.logged("waiting for the database")).toEqual([]);
});

(brokers === undefined ? test.skip : test)(
  "a service whose Kafka subscription crashed goes on and subscribes again",
  async () => {
    const topic = newName("topic");
    service = await startService({
      KAFKA_BROKERS: brokers!,
      KAFKA_REPLICATION: "1",
      DATABASE_URL: database.url,
      SAMPLE_TOPIC: topic,
    });
    const said = (line: string) =>
      eventually(async () => expect(await service.metrics()).toContain(`${line}\n`), { timeoutMs: 60_000 });
    await said(`consumer_joined{group="${topic}"} 1`);
    // The group forgets the consumer and takes another member with another protocol.
    service.child.kill("SIGSTOP");
    const stranger = await joinAsStranger(brokers!.split(","), topic, topic);
    service.child.kill("SIGCONT");
    await said(`consumer_crashes_total{group="${topic}"} 1`);
    await said(`consumer_joined{group="${topic}"} 0`);
    expect(service.child.exitCode).toBeNull();
    await stranger.disconnect();
    await said(`consumer_joined{group="${topic}"} 1`);
  },
);

test("a service without Kafka handles its events by the feed, and stops in order", async () => {
  const topic = newName("topic");
  service = await startService({ BUS: "feed", DATABASE_URL: database.url, SAMPLE_TOPIC: topic });
  await appendTo(topic);
  await eventually(() => expect(service.lines).toContain(`got ${topic}`), PATIENT);
  expect(await service.metrics()).toContain(`consumer_joined{group="${topic}"} 1\n`);
  expect(await service.stop()).toBe(0);
  expect(service.closed()).toEqual(WITHOUT_KAFKA);
});

(brokers === undefined ? describe.skip : describe)("Kafka is away", () => {
  let topic: string;
  beforeEach(async () => {
    topic = newName("topic");
    const [host, port] = brokers!.split(",")[0]!.split(":");
    proxy = await startProxy({ target: { host: host!, port: Number(port) }, mode: { kind: "reset" } });
  });
  afterEach(() => proxy.close());
  const start = async (more: Record<string, string> = {}) => {
    const place = { KAFKA_BROKERS: `127.0.0.1:${proxy.port}`, KAFKA_REPLICATION: "1" };
    const own = { DATABASE_URL: database.url, SAMPLE_TOPIC: topic };
    service = await startService({ BUS: "kafka", ...place, ...own, ...more });
  };

  test("a service serves and handles events from its start, and joins Kafka when it is available", async () => {
    await start();
    await service.client.ready();
    expect(await service.probe("/livez")).toBe(200);
    expect(await service.probe("/readyz")).toBe(200);
    await eventually(() => expect(service.lines).toContain("tick"));
    expect(await service.metrics()).toContain(`consumer_joined{group="${topic}"} 0\n`);
    await appendTo(topic);
    await eventually(() => expect(service.lines).toContain(`got ${topic}`), PATIENT);
    proxy.setMode({ kind: "pass" });
    const joined = `consumer_joined{group="${topic}"} 1\n`;
    await eventually(async () => expect(await service.metrics()).toContain(joined), { timeoutMs: 60_000 });
    expect(await service.probe("/livez")).toBe(200);
    expect(await service.stop()).toBe(0);
  });

  test.each(["reset", "blackhole"] as const)("a service stops in time and in order (%s)", async (mode) => {
    proxy.setMode({ kind: mode });
    await start();
    expect(await service.stop()).toBe(0);
    expect(service.closed()).toEqual(STEPS);
  });

  test.each(["reset", "blackhole"] as const)(
    "so does a service that had joined before (%s)",
    async (mode) => {
      proxy.setMode({ kind: "pass" });
      await start({ SHUTDOWN_GRACE_MS: `${GRACE_MS + 4_000}` });
      const joined = `consumer_joined{group="${topic}"} 1\n`;
      await eventually(async () => expect(await service.metrics()).toContain(joined), PATIENT);
      proxy.setMode({ kind: mode });
      await appendTo(topic);
      expect(await service.stop()).toBe(0);
      expect(service.closed()).toEqual(STEPS);
    },
  );
});

async function appendTo(topic: string): Promise<void> {
  const event = { topic, type: "sent", aggregateId: topic, version: VERSION, orgId: "org_1" };
  await tx(database.db, (tx) => appendEvents(tx, [{ ...event, payload: Buffer.alloc(0) }]));
}

interface Service {
  child: ChildProcess;
  lines: string[];
  client: ReturnType<typeof clientOf>;
  probe(path: string): Promise<number>;
  metrics(): Promise<string>;
  /** Stops it like an operator; returns the exit code. */
  stop(): Promise<number | null>;
  /** The lines of its log with that message. */
  logged(message: string): Record<string, unknown>[];
  /** The steps of its end. */
  closed(): string[];
}

async function startService(env: Record<string, string>): Promise<Service> {
  const started = await launch(env);
  await isReady(started);
  return started;
}

const PATIENT = { timeoutMs: 30_000 };

function isReady({ logged }: Service): Promise<void> {
  return eventually(() => expect(logged("ready")).toHaveLength(1), PATIENT);
}

async function launch(env: Record<string, string>): Promise<Service> {
  const lines: string[] = [];
  const local = { GRPC_HOST: "127.0.0.1", OPS_HOST: "127.0.0.1", SHUTDOWN_GRACE_MS: `${GRACE_MS}` };
  const [grpcPort, opsPort] = [await freePort(), await freePort()];
  const child = spawn(
    process.execPath,
    ["--require", require.resolve("tsx/cjs"), join(__dirname, "testing/sampleService.ts")],
    {
      env: { PATH: process.env.PATH, ...local, GRPC_PORT: grpcPort, OPS_PORT: opsPort, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const logged = (message: string) =>
    lines
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === message);
  const ask = (path: string) => fetch(`http://127.0.0.1:${opsPort}${path}`);
  return {
    child,
    lines,
    client: clientOf(`127.0.0.1:${grpcPort}`),
    probe: async (path) => (await ask(path)).status,
    metrics: async () => (await ask("/metrics")).text(),
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      return ((await exited) as [number | null])[0];
    },
    logged,
    closed: () => logged("closed").map(({ step }) => String(step)),
  };
}

function clientOf(address: string) {
  const options = { name: "sample", address, log: testLog(), registry: new Registry() };
  return createClient(AuthServiceService, { ...options, defaultTimeoutMs: 20_000 });
}

function freePort(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(`${port}`));
    });
  });
}
