import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from "@grpc/grpc-js";
import { type Log } from "../../log";
import { type Registry } from "../../metrics";
import { MAX_REQUEST_BYTES } from "../messageLimits";
import { type TlsIdentity } from "../tls";
import { addService } from "./addService";
import { assertComplete, type CallerRules } from "./callers";
import { addHealth, addReflection } from "./health";
import { type GrpcService } from "./implement";

export interface GrpcServerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  services: readonly GrpcService[];
  log: Log;
  registry: Registry;
  /** With it every client must show a certificate of the same authority. */
  tls?: TlsIdentity;
  /** Allowed callers per method. Complete or absent; enforced only with TLS. */
  callers?: CallerRules;
  /** Lets tools list the services and their messages. */
  reflection?: boolean;
  maxMessageBytes?: number;
  maxConcurrentStreams?: number;
  /** Connections end after a while, so that clients find replicas that were added since. */
  maxConnectionAgeMs?: number;
  maxConnectionAgeGraceMs?: number;
}

export interface GrpcServer {
  readonly port: number;
  /** Sets the health service's answer. */
  setServing(serving: boolean): void;
  /** Accepts no new calls, lets running ones end, and cuts the rest after `graceMs`. */
  drain(graceMs: number): Promise<void>;
}

export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const { host, services, log } = options;
  // Errors also arrive as exceptions; grpc-js would print plain text between our lines.
  setLogVerbosity(logVerbosity.NONE);
  if (options.callers) assertComplete(options.callers, services);
  const server = makeServer(options);
  for (const service of services) addService(server, service, options);
  const health = addHealth(server, services);
  if (options.reflection) addReflection(server, services);
  const port = await listen(server, options);
  log.debug({ host, port }, "grpc listens");

  return {
    port,
    setServing: health.setServing,
    async drain(graceMs) {
      health.setServing(false);
      const startedAt = performance.now();
      await shutDown(server, addressOf(host, port), graceMs);
      if (performance.now() - startedAt < graceMs) return;
      log.warn({ graceMs }, "calls that were still running at the end of the grace period were cut");
    },
  };
}

/** Time after the grace period for cut connections to end. */
const CUT_MS = 1000;

function shutDown(server: Server, address: string, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // tryShutdown alone would wait for ever for a hanging call, and forceShutdown ends no
    // connection when channelz is off (grpc-js 1.14.7). drain cuts connections. It must come first,
    // because tryShutdown would hide the connections from it.
    server.drain(address, graceMs);
    const timer = setTimeout(resolve, graceMs + CUT_MS);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function makeServer({
  maxMessageBytes = MAX_REQUEST_BYTES,
  maxConcurrentStreams = 1024,
  maxConnectionAgeMs = 5 * 60_000,
  maxConnectionAgeGraceMs = 30_000,
}: GrpcServerOptions): Server {
  return new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_concurrent_streams": maxConcurrentStreams,
    "grpc.max_connection_age_ms": maxConnectionAgeMs,
    "grpc.max_connection_age_grace_ms": maxConnectionAgeGraceMs,
    "grpc.enable_channelz": 0,
  });
}

function listen(server: Server, { host, port, tls }: GrpcServerOptions): Promise<number> {
  const address = addressOf(host, port);
  const credentials = tls
    ? ServerCredentials.createSsl(tls.ca, [{ cert_chain: tls.cert, private_key: tls.key }], true)
    : ServerCredentials.createInsecure();
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, boundPort) => {
      if (error) reject(new Error(`gRPC cannot listen on ${address}`, { cause: error }));
      else resolve(boundPort);
    });
  });
}

function addressOf(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
