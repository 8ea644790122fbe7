import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { z } from "zod";
import { createLog, type Log } from "@wonrail/kit/log";
import { Registry } from "@wonrail/kit/metrics";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { createApp } from "../app";
import { createClients } from "../clients";
import { type Config } from "../config";
import { CONNECTION_LIMITS, type ConnectionLimits } from "../middleware/connections";
import { startHttpServer } from "../middleware/httpServer";
import { operation, route, type Route } from "../routes/operation";

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The envelope, when the text is JSON. */
  body: Envelope;
}

export interface Envelope {
  success: boolean;
  data: Record<string, unknown> | null;
  error: { code: string; message: string; details: Record<string, unknown> | null } | null;
  requestId: string;
  timestamp: string;
}

export interface GatewayOptions {
  authPort: number;
  /** Port of the other services. Default: auth's port, where their methods are unimplemented. */
  servicesPort?: number;
  config?: Partial<Config>;
  extraRoutes?: Route[];
  maxRequestsPerSocket?: number;
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  authTimeoutMs?: number;
  connectionLimits?: ConnectionLimits;
  siteFolder?: string;
}

export type TestGateway = Awaited<ReturnType<typeof startGateway>>;

/** A route that only returns the caller's organisation, for tests of the middlewares. */
const probe = operation({
  id: "probe",
  tag: "Service",
  summary: "For tests",
  access: "full",
  status: 200,
  data: z.strictObject({ orgId: z.string() }),
  errors: [],
});
const probeRoute = route("GET", "/test/probe", probe, async (_input, { principal: { orgId } }) => ({
  data: { orgId },
}));

/** Starts a gateway with a real HTTP server, and captures its log. */
export function startGateway(options: GatewayOptions) {
  return buildWorld((parts) => buildGateway(parts, options));
}

async function buildGateway(
  parts: Parts,
  {
    authPort,
    servicesPort = authPort,
    config = {},
    extraRoutes = [],
    // A machine that is held up for a second is no outage.
    authTimeoutMs = 8_000,
    connectionLimits = CONNECTION_LIMITS,
    siteFolder,
    ...limits
  }: GatewayOptions,
) {
  const lines: string[] = [];
  const log: Log = createLog({
    service: "gateway",
    destination: { write: (line: string) => void lines.push(line) },
  });
  const registry = new Registry();
  const services = `127.0.0.1:${servicesPort}`;
  const addresses = {
    AUTH_ADDRESS: `127.0.0.1:${authPort}`,
    WALLET_ADDRESS: services,
    PAYMENT_ADDRESS: services,
    RELAYER_ADDRESS: services,
    EVENTS_ADDRESS: services,
  };
  const clients = await parts.use(createClients(addresses, { log, registry, authTimeoutMs }));
  const app = await parts.use(
    createApp({
      config: { ...DEFAULTS, ...config } as Config,
      clients,
      log,
      registry,
      extraRoutes: [probeRoute, ...extraRoutes],
      connectionLimits,
      siteFolder,
    }),
  );
  const server = await startHttpServer(app.handler, {
    host: "127.0.0.1",
    port: 0,
    log,
    registry,
    maxConnections: 1_000,
    maxRequestsPerSocket: 10_000,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 30_000,
    keepAliveTimeoutMs: 5_000,
    idleTimeoutMs: 40_000,
    ...limits,
  });
  const drain = (graceMs: number) => {
    app.stopKeepingAlive();
    return server.drain(graceMs);
  };
  parts.onClose(() => drain(1_000));
  return {
    port: server.port,
    registry,
    lines,
    ready: () => app.ready(),
    send: (method: string, path: string, options: SendOptions = {}) =>
      send(server.port, method, path, options),
    raw: (bytes: string | Buffer, waitMs?: number) => raw(server.port, bytes, waitMs),
    drain,
  };
}

const DEFAULTS = {
  NODE_ENV: "test",
  NETWORK: "WON_TESTNET",
  REQUEST_BUDGET_MS: 10_000,
  AUTH_OUTAGE_GRACE_MS: 300_000,
  TRUSTED_PROXY_HOPS: 0,
} satisfies Partial<Config>;

export interface SendOptions {
  key?: string | undefined;
  /** An object is sent as JSON; text and bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

function send(
  port: number,
  method: string,
  path: string,
  { key, body, headers = {} }: SendOptions,
): Promise<Answer> {
  const payload =
    body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const all: Record<string, string> = {
    ...(key === undefined ? {} : { "X-API-Key": key }),
    ...(payload === undefined ? {} : { "Content-Type": "application/json" }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, method, path, headers: all, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve(answer(response.statusCode!, response.headers, text)));
    });
    request.on("error", reject);
    request.end(payload);
  });
}

/** Sends raw bytes that no HTTP client would send. Returns all bytes until the connection ends. */
function raw(port: number, bytes: string | Buffer, waitMs = 15_000): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => void socket.write(bytes));
    let text = "";
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (text += chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      const [head = "", ...rest] = text.split("\r\n\r\n");
      const [first = "", ...headerLines] = head.split("\r\n");
      const headers = Object.fromEntries(
        headerLines.map((line) => [
          line.slice(0, line.indexOf(":")).toLowerCase(),
          line.slice(line.indexOf(":") + 2),
        ]),
      );
      resolve(answer(Number(first.split(" ")[1] ?? 0), headers, rest.join("\r\n\r\n")));
    });
  });
}

function answer(status: number, headers: Answer["headers"], text: string): Answer {
  return { status, headers, text, body: envelope(text) };
}

function envelope(text: string): Envelope {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return { success: false, data: null, error: null, requestId: "", timestamp: "" };
  }
}
