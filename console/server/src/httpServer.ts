import { createServer, type RequestListener } from "node:http";
import { type AddressInfo } from "node:net";

export interface HttpServerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
}

export interface HttpServer {
  readonly port: number;
  /** Accepts no more connections, and closes those that are open after the grace period. */
  drain(graceMs: number): Promise<void>;
}

/** The server for browsers, with limits for slow and many clients. */
export async function startHttpServer(
  handler: RequestListener,
  { host, port }: HttpServerOptions,
): Promise<HttpServer> {
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 },
    handler,
  );
  server.maxConnections = 2_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async drain(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
