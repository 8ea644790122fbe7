import { createServer } from "node:net";

/** Below the range that the kernel hands to outgoing connections, so that a port found free stays free. */
const HIGHEST_PORT = 32_767;
const ATTEMPTS = 500;

/** The preferred port of the loopback interface, or the next one that nobody holds and that is not in `taken`. */
export async function freePort(preferred: number, taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let offset = 0; offset < ATTEMPTS && preferred + offset <= HIGHEST_PORT; offset++) {
    const port = preferred + offset;
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  throw new Error(
    `No port from ${preferred} to ${Math.min(preferred + ATTEMPTS, HIGHEST_PORT)} is free on 127.0.0.1.`,
  );
}

/** A port that nobody is likely to look for: for throw-away processes, of which many may start at the same time. */
export function randomFreePort(random: () => number = Math.random): Promise<number> {
  return freePort(20_000 + Math.floor(random() * 12_000));
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
