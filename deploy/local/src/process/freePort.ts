import { createServer } from "node:net";

/** Below the kernel's range for outgoing connections, so that a free port stays free. */
export const HIGHEST_PORT = 32_767;
const LOWEST_RANDOM_PORT = 20_000;
const ATTEMPTS = 100;
/** A port is free until its process listens. So each worker of a test run uses its own range. */
const WORKERS = 8;
const PORTS_OF_A_WORKER = Math.floor((HIGHEST_PORT - LOWEST_RANDOM_PORT) / WORKERS);
const given = new Set<number>();

/** A random port that was not given out before, for temporary processes with concurrent starts. */
export async function randomFreePort(): Promise<number> {
  const worker = Number(process.env.JEST_WORKER_ID ?? 0) % WORKERS;
  const lowest = LOWEST_RANDOM_PORT + worker * PORTS_OF_A_WORKER;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * PORTS_OF_A_WORKER);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`Of ${ATTEMPTS} random ports, none is free on 127.0.0.1.`);
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
