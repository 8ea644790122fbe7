import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** State of the link: normal, slow and lossy, or blocked. */
export type Weather = "good" | "slow" | "clogged";

const DELAY_MS = 200;
const JITTER_MS = 100;
/** 256 kbit/s, each direction of each connection for itself. */
const BYTES_PER_MS = 32;
const LOST = 0.05;
/**
 * TCP resends lost segments, so a loss is a pause: from the shortest timeout of a sender
 * to one that waited twice.
 */
const SENT_AGAIN_MS = [200, 1_000] as const;
/** Buffer of one direction. A faster sender must wait. */
const MAX_BYTES_AHEAD = 64 * 1024;

export interface SlowLink {
  readonly port: number;
  /** Connections survive each change, and a clogged link keeps its bytes until it opens. */
  turn(weather: Weather): void;
  close(): void;
}

/**
 * A proxy to a local server. It delays bytes, and neither loses nor reorders them, like a lossy
 * network under TCP.
 */
export async function startSlowLink(
  target: { host: string; port: number },
  random: () => number,
): Promise<SlowLink> {
  const state: { weather: Weather } = { weather: "good" };
  const sockets = new Set<Socket>();
  const directions = new Set<Direction>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...target, noDelay: true, allowHalfOpen: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      const direction = carry(from, to, () => state.weather, random);
      sockets.add(from);
      directions.add(direction);
      from.once("close", () => sockets.delete(from));
      to.once("close", () => directions.delete(direction));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    turn(weather) {
      state.weather = weather;
      for (const direction of directions) direction.look();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Direction {
  /** Forwards the bytes that are due. */
  look(): void;
}

interface Passing {
  bytes: number;
  dueMs: number;
  arrive: () => void;
}

function carry(from: Socket, to: Socket, weather: () => Weather, random: () => number): Direction {
  const passing: Passing[] = [];
  let bytesAhead = 0;
  let lastDueMs = 0;
  let timer: NodeJS.Timeout | undefined;

  function enter(bytes: number, arrive: () => void): void {
    const lateMs = weather() === "good" ? 0 : lateness(random);
    const transferMs = weather() === "good" ? 0 : bytes / BYTES_PER_MS;
    lastDueMs = Math.max(lastDueMs, performance.now() + lateMs) + transferMs;
    bytesAhead += bytes;
    passing.push({ bytes, dueMs: lastDueMs, arrive });
    if (bytesAhead > MAX_BYTES_AHEAD) from.pause();
    look();
  }

  function look(): void {
    clearTimeout(timer);
    if (weather() === "clogged") return;
    const now = performance.now();
    while (passing.length > 0 && passing[0]!.dueMs <= now) {
      const { bytes, arrive } = passing.shift()!;
      bytesAhead -= bytes;
      arrive();
    }
    if (bytesAhead <= MAX_BYTES_AHEAD) from.resume();
    if (passing.length > 0) timer = setTimeout(look, passing[0]!.dueMs - now);
  }

  from.on("error", () => undefined);
  from.on("data", (chunk: Buffer) => enter(chunk.length, () => void (to.destroyed || to.write(chunk))));
  from.on("end", () => enter(0, () => to.end()));
  // A close is forwarded after the last byte.
  from.on("close", () => enter(0, () => to.destroySoon()));
  to.on("close", () => clearTimeout(timer));
  return { look };
}

function lateness(random: () => number): number {
  const onceMs = DELAY_MS + JITTER_MS * (2 * random() - 1);
  if (random() >= LOST) return onceMs;
  const [leastMs, mostMs] = SENT_AGAIN_MS;
  return onceMs + leastMs + random() * (mostMs - leastMs);
}
