import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServiceDefinition } from "../grpc/definition";
import { type ClientLifecycle, type ClientOptions, createClient, type PromiseClient } from "../grpc/client";
import { type GrpcServer, type GrpcServerOptions, type GrpcService, startGrpcServer } from "../grpc/server";
import { Registry } from "../metrics";
import { type Proxy, startProxy } from "./proxies/proxy";
import { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from "./testDatabase";
import { testLog } from "./testLog";

type Close = () => unknown;
/** As `createApp` of a service takes it. */
export type OnClose = (name: string, close: () => Promise<void> | void) => void;

/** Opens the parts of a test's world. The world closes them in reverse order. */
export interface Parts {
  database(options: TestDatabaseOptions): Promise<TestDatabase>;
  /** A gRPC server on a free port of 127.0.0.1. */
  server(services: readonly GrpcService[], options?: ServerOptions): Promise<WorldServer>;
  client<D extends ServiceDefinition>(
    definition: D,
    address: string,
    options?: Partial<ClientOptions>,
  ): PromiseClient<D> & ClientLifecycle;
  /** A network that can fail, before this address. */
  proxy(address: string): Promise<Proxy>;
  /** Creates an app. Its own parts close in the order of their opening, as `runService` does it. */
  app<T>(create: (onClose: OnClose) => T): T;
  /** An empty folder. */
  folder(): string;
  /** The path of a file with a new key-encryption key. */
  kekFile(): string;
  /** Any other part with a `close`. */
  use<T extends { close(): unknown }>(part: T | Promise<T>): Promise<T>;
  onClose: (close: Close) => void;
}

export interface ServerOptions extends Partial<GrpcServerOptions> {
  /** Time that running calls have when the world closes. */
  graceMs?: number;
}

export interface WorldServer extends GrpcServer {
  address: string;
}

/**
 * Builds a test's world. `close` of the world closes every part, also after a part failed to close,
 * and then throws the first error. A second `close` only waits for the first. If `build` throws,
 * the opened parts are closed and the error of `build` is thrown.
 */
export async function buildWorld<T extends object>(
  build: (parts: Parts) => Promise<T> | T,
): Promise<T & { close: () => Promise<void> }> {
  const closers: Close[] = [];
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeInReverse(closers));
  try {
    return Object.assign(await build(createParts((closer) => void closers.push(closer))), { close });
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

async function closeInReverse(closers: Close[]): Promise<void> {
  const errors: unknown[] = [];
  // A part may open another one while it closes.
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

function createParts(onClose: Parts["onClose"]): Parts {
  const parts: Parts = {
    onClose,
    async database(options) {
      const database = await createTestDatabase(options);
      onClose(() => database.drop());
      return database;
    },
    async server(services, { graceMs = 500, ...options } = {}) {
      const place = { host: "127.0.0.1", port: 0, log: testLog(), registry: new Registry() };
      const server = await startGrpcServer({ ...place, ...options, services });
      onClose(() => server.drain(graceMs));
      return { ...server, address: `127.0.0.1:${server.port}` };
    },
    client(definition, address, options) {
      const rest = { name: "test", log: testLog(), registry: new Registry(), defaultTimeoutMs: 10_000 };
      const client = createClient(definition, { ...rest, ...options, address });
      onClose(() => client.close());
      return client;
    },
    proxy(address) {
      const { hostname: host, port } = new URL(`tcp://${address}`);
      return parts.use(startProxy({ target: { host, port: Number(port) } }));
    },
    app(create) {
      const closers: Close[] = [];
      onClose(() => closeInReverse(closers.reverse()));
      return create((_name, close) => void closers.push(close));
    },
    folder() {
      const folder = mkdtempSync(join(tmpdir(), "wonrail-test-"));
      onClose(() => rmSync(folder, { recursive: true, force: true }));
      return folder;
    },
    kekFile() {
      const path = join(parts.folder(), "kek.json");
      const kek = { current: "test", keys: { test: randomBytes(32).toString("base64") } };
      writeFileSync(path, JSON.stringify(kek), { mode: 0o600 });
      return path;
    },
    async use(opening) {
      const part = await opening;
      onClose(() => part.close());
      return part;
    },
  };
  return parts;
}
