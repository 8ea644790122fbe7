import { createServer } from "node:net";

/** Below the range that the kernel hands to outgoing connections, so that a port found free stays free. */
export const HIGHEST_PORT = 32_767;
const LOWEST_RANDOM_PORT = 20_000;
const ATTEMPTS = 100;

/** A port that nobody is likely to look for: for throw-away processes, of which many may start at the same time. */
export async function randomFreePort(random: () => number = Math.random): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = LOWEST_RANDOM_PORT + Math.floor(random() * (HIGHEST_PORT - LOWEST_RANDOM_PORT));
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
