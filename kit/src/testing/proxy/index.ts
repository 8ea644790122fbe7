import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";

export type ProxyMode =
  | { kind: "pass" }
  | { kind: "delay"; delayMs: number }
  /**
   * Accepts everything and forwards nothing, in both directions, like a network that swallows
   * packets.
   */
  | { kind: "blackhole" }
  /**
   * Open connections stay open and silent for ever; new ones work. A vanished peer leaves this
   * state.
   */
  | { kind: "halfOpen" }
  /** Requests arrive, answers never do. */
  | { kind: "dropResponses" }
  /** Resets every open and every new connection. */
  | { kind: "reset" }
  /** Forwards a part of the target's next answer, and closes the connection. */
  | { kind: "cutAnswers" }
  /** Resets each connection after this many bytes from the target. */
  | { kind: "closeAfterBytes"; bytes: number };

export interface ProxyOptions {
  target: { host: string; port: number };
  mode?: ProxyMode;
  /**
   * Called with a client's bytes before they are forwarded, so that a fault can start at a given
   * request.
   */
  onRequest?: (chunk: Buffer, proxy: Proxy) => void;
  /** Called with the target's answer before it is forwarded or dropped: the request was served. */
  onAnswer?: (chunk: Buffer, proxy: Proxy) => void;
}

export interface Proxy {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /**
   * When a mode that drops bytes ends, the connections that lost bytes are reset. TCP never delivers the
   * bytes after a gap, and a client cannot read them.
   */
  setMode(mode: ProxyMode): void;
  /** Points new connections elsewhere, as a failover does. */
  setTarget(target: { host: string; port: number }): void;
  close(): Promise<void>;
}

const DROPPING: ProxyMode["kind"][] = ["blackhole", "dropResponses"];

interface Link {
  client: Socket;
  upstream: Socket;
  bytesBack: number;
  hasLostBytes: boolean;
  silent: boolean;
}

/** A proxy between two processes, which a test can slow down, cut or silence. */
export async function startProxy({
  target,
  mode = { kind: "pass" },
  onRequest,
  onAnswer,
}: ProxyOptions): Promise<Proxy> {
  const links = new Set<Link>();
  const state = { mode, target };
  // Half-open, because a silent side must not answer a close.
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    if (state.mode.kind === "reset") {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ ...state.target, noDelay: true });
    const link: Link = { client, upstream, bytesBack: 0, hasLostBytes: false, silent: false };
    links.add(link);
    join(link, () => state.mode, {
      onRequest: (chunk) => onRequest?.(chunk, proxy),
      onAnswer: (chunk) => onAnswer?.(chunk, proxy),
    });
    const isSilent = (): boolean => state.mode.kind === "blackhole" || link.silent;
    client.on("end", () => void (isSilent() || client.end()));
    for (const socket of [client, upstream]) {
      socket.on("error", () => undefined);
      // A silent network hides the other side's end; the proxy's close drops it.
      socket.on("close", () => {
        if (!isSilent()) drop(link);
        if (client.destroyed && upstream.destroyed) links.delete(link);
      });
    }
  });
  const port = await listen(server);

  const proxy: Proxy = {
    host: "127.0.0.1",
    port,
    get connections() {
      return links.size;
    },
    setMode(next) {
      state.mode = next;
      if (next.kind === "reset") links.forEach(reset);
      if (!DROPPING.includes(next.kind)) [...links].filter(({ hasLostBytes }) => hasLostBytes).forEach(reset);
      if (next.kind === "halfOpen") links.forEach((link) => (link.silent = true));
    },
    setTarget(next) {
      state.target = next;
    },
    async close() {
      state.mode = { kind: "pass" };
      links.forEach(drop);
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}

type Heard = Record<"onRequest" | "onAnswer", (chunk: Buffer) => void>;

function join(link: Link, mode: () => ProxyMode, { onRequest, onAnswer }: Heard): void {
  const { client, upstream } = link;
  client.on("data", (chunk: Buffer) => {
    onRequest(chunk);
    const now = mode();
    if (now.kind === "blackhole") link.hasLostBytes = true;
    if (now.kind === "blackhole" || link.silent) return;
    later(now, () => upstream.write(chunk));
  });
  upstream.on("data", (chunk: Buffer) => {
    onAnswer(chunk);
    const now = mode();
    if (DROPPING.includes(now.kind)) link.hasLostBytes = true;
    if (DROPPING.includes(now.kind) || link.silent) return;
    link.bytesBack += chunk.length;
    if (now.kind === "cutAnswers") {
      client.end(chunk.subarray(0, Math.ceil(chunk.length / 2)));
      upstream.destroy();
      return;
    }
    if (now.kind === "closeAfterBytes" && link.bytesBack > now.bytes) reset(link);
    else later(now, () => client.write(chunk));
  });
}

/** Timers of equal length fire in order, so a delay keeps the order of the bytes. */
function later(mode: ProxyMode, write: () => void): void {
  if (mode.kind === "delay") setTimeout(write, mode.delayMs);
  else write();
}

function reset({ client, upstream }: Link): void {
  client.resetAndDestroy();
  upstream.destroy();
}

function drop({ client, upstream }: Link): void {
  client.destroy();
  upstream.destroy();
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
