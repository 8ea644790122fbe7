import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { createDelayLine, type DelayLine } from "./delayLine";
import { type ProxyMode } from "./mode";

export type { ProxyMode } from "./mode";

export interface ProxyOptions {
  target: { host: string; port: number };
  /** Default: a free port of 127.0.0.1. */
  listen?: { host: string; port: number };
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
  requests: DelayLine;
  answers: DelayLine;
  bytesBack: number;
  hasLostBytes: boolean;
  isHalfOpen: boolean;
}

/** A proxy between two processes, which a test can slow down, cut or silence. */
export async function startProxy({
  target,
  listen = { host: "127.0.0.1", port: 0 },
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
    const link = openLink(client, upstream, () => state.mode);
    links.add(link);
    join(link, () => state.mode, {
      onRequest: (chunk) => onRequest?.(chunk, proxy),
      onAnswer: (chunk) => onAnswer?.(chunk, proxy),
    });
    for (const socket of [client, upstream])
      socket.on("close", () => void (client.destroyed && upstream.destroyed && links.delete(link)));
  });
  const port = await bind(server, listen);

  const proxy: Proxy = {
    host: listen.host,
    port,
    get connections() {
      return links.size;
    },
    setMode(next) {
      state.mode = next;
      if (next.kind === "reset") links.forEach(reset);
      if (!DROPPING.includes(next.kind)) [...links].filter(({ hasLostBytes }) => hasLostBytes).forEach(reset);
      if (next.kind === "halfOpen") links.forEach((link) => (link.isHalfOpen = true));
      for (const { requests, answers } of links) [requests, answers].forEach((line) => line.look());
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

function openLink(client: Socket, upstream: Socket, mode: () => ProxyMode): Link {
  const [requests, answers] = [createDelayLine(client, mode), createDelayLine(upstream, mode)];
  return { client, upstream, requests, answers, bytesBack: 0, hasLostBytes: false, isHalfOpen: false };
}

type Heard = Record<"onRequest" | "onAnswer", (chunk: Buffer) => void>;

function join(link: Link, mode: () => ProxyMode, { onRequest, onAnswer }: Heard): void {
  const { client, upstream, requests, answers } = link;
  client.on("data", (chunk: Buffer) => {
    onRequest(chunk);
    if (mode().kind === "blackhole") link.hasLostBytes = true;
    if (!isSilent(link, mode())) requests.enter(chunk.length, () => write(upstream, chunk));
  });
  upstream.on("data", (chunk: Buffer) => {
    onAnswer(chunk);
    const now = mode();
    if (DROPPING.includes(now.kind)) link.hasLostBytes = true;
    if (DROPPING.includes(now.kind) || link.isHalfOpen) return;
    link.bytesBack += chunk.length;
    if (now.kind === "cutAnswers") {
      client.end(chunk.subarray(0, Math.ceil(chunk.length / 2)));
      upstream.destroy();
      return;
    }
    if (now.kind === "closeAfterBytes" && link.bytesBack > now.bytes) reset(link);
    else answers.enter(chunk.length, () => write(client, chunk));
  });
  forwardEnd(client, upstream, requests, () => isSilent(link, mode()));
  forwardEnd(upstream, client, answers, () => isSilent(link, mode()));
}

/** Ends follow the last byte. A silent network hides them, and the proxy's close drops both sides. */
function forwardEnd(from: Socket, to: Socket, line: DelayLine, silent: () => boolean): void {
  from.on("error", () => undefined);
  from.on("end", () => void (silent() || line.enter(0, () => to.end())));
  from.on("close", () => void (silent() || line.enter(0, () => to.destroySoon())));
  to.on("close", () => line.end());
}

function isSilent({ isHalfOpen }: Link, mode: ProxyMode): boolean {
  return isHalfOpen || mode.kind === "blackhole";
}

function write(to: Socket, chunk: Buffer): void {
  if (!to.destroyed) to.write(chunk);
}

function reset({ client, upstream }: Link): void {
  client.resetAndDestroy();
  upstream.destroy();
}

function drop({ client, upstream }: Link): void {
  client.destroy();
  upstream.destroy();
}

function bind(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}
