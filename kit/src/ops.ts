import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { type Log } from "./log";
import { type Registry } from "./metrics";

export interface OpsOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  log: Log;
  registry: Registry;
  /** Required dependencies by name. A failing check rejects. */
  checks: Readonly<Record<string, () => Promise<void>>>;
  checkTimeoutMs?: number;
  /**
   * False when only a restart helps. Never checks a dependency, because a restart would not repair
   * it.
   */
  live?: () => boolean;
}

export interface Ops {
  readonly port: number;
  /** From here on /readyz answers 503. */
  setDraining(): void;
  close(): Promise<void>;
}

/** The operators' HTTP server on its own port: /livez, /readyz and /metrics. */
export async function startOps(options: OpsOptions): Promise<Ops> {
  const { log, registry, checks, checkTimeoutMs = 1000, live = () => true } = options;
  let draining = false;
  // Concurrent probes share one run of the checks, so that probing never piles up on a slow
  // dependency.
  const failing = shareRunning(() => failingChecks(checks, checkTimeoutMs));

  const routes: Record<string, () => Promise<Answer>> = {
    "/livez": async () => (live() ? json(200, { live: true }) : json(503, { live: false })),
    "/readyz": async () => {
      const names = await failing();
      const ready = names.length === 0 && !draining;
      return json(ready ? 200 : 503, { ready, draining, failing: names });
    },
    "/metrics": async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() }),
  };

  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000, maxHeaderSize: 8192 });
  server.on("request", (request, response) => {
    answer(routes, request).then(
      (result) => send(response, result),
      () => send(response, json(500, { error: "the answer could not be created" })),
    );
  });
  server.maxConnections = 100;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // A failed accept must not end the process.
  server.on("error", (error) => log.error({ err: error }, "a probe's connection could not be accepted"));

  return {
    port: (server.address() as AddressInfo).port,
    setDraining: () => void (draining = true),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

async function answer(
  routes: Record<string, () => Promise<Answer>>,
  request: IncomingMessage,
): Promise<Answer> {
  const path = (request.url ?? "/").split("?", 1)[0]!;
  if (!Object.hasOwn(routes, path)) return json(404, { error: "there is /livez, /readyz and /metrics" });
  if (request.method !== "GET" && request.method !== "HEAD") return json(405, { error: "only GET" });
  return routes[path]!();
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(response.req.method === "HEAD" ? undefined : body);
}

function json(status: number, body: unknown): Answer {
  return { status, type: "application/json", body: `${JSON.stringify(body)}\n` };
}

/** Names only: internal details belong to the log, not to everyone who reaches the port. */
async function failingChecks(checks: OpsOptions["checks"], timeoutMs: number): Promise<string[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ((await passes(check, timeoutMs)) ? [] : [name])),
  );
  return results.flat();
}

function passes(check: () => Promise<void>, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    Promise.resolve()
      .then(check)
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}

function shareRunning<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => (running ??= work().finally(() => (running = undefined)));
}
