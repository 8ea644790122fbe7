import { type IncomingMessage } from "node:http";
import { type Socket } from "node:net";
import { type Log } from "@wonrail/kit/log";
import { Counter, Gauge, type Registry } from "@wonrail/kit/metrics";

export interface ConnectionLimits {
  /** Limit of requests per connection, counted until the client has read the answer. */
  maxRequests: number;
  /** Limit of answer bytes that wait for one client. A single answer may be larger. */
  maxQueuedBytes: number;
  /** The same for all clients together. */
  maxQueuedBytesInAll: number;
  /** Longest time in which a client reads nothing while an answer waits. */
  stallTimeoutMs: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  maxRequests: 100,
  maxQueuedBytes: 1024 * 1024,
  maxQueuedBytesInAll: 32 * 1024 * 1024,
  stallTimeoutMs: 15_000,
};

/** Memory of one waiting answer beside its body: request, response and context. */
export const BYTES_PER_ANSWER = 4 * 1024;

export interface Connections {
  /**
   * Counts a request. Returns false when the connection had too many and was closed; do not start
   * the request then.
   */
  begin(req: IncomingMessage): boolean;
  /**
   * Counts an answer until `end`. Returns false when the client reads too slowly and its connection
   * was closed.
   */
  queue(req: IncomingMessage, bytes: number): boolean;
  /** The request is over: `bytes` of its answer left the queue, or the connection ended. */
  end(req: IncomingMessage, bytes: number): void;
  close(): void;
}

interface Connection {
  readonly socket: Socket;
  requests: number;
  queuedBytes: number;
  /** Last time at which the client took an answer, or got its first waiting one. */
  progressAtMs: number;
  isWatched: boolean;
}

type CloseReason = "pipelined" | "unread" | "stalled";

export interface ConnectionsOptions {
  log: Log;
  registry: Registry;
  limits: ConnectionLimits;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

const SWEEP_MS = 1_000;

/**
 * Bounds the memory that clients can hold by sending requests and not reading the answers. Each
 * connection has its limits. When all queues together are too long, the connection with the longest
 * pause in reading is closed first, and clients that read are not affected.
 */
export function createConnections({ log, registry, limits, monotonicMs }: ConnectionsOptions): Connections {
  const bySocket = new WeakMap<Socket, Connection>();
  /** Connections with a waiting answer since the last sweep. */
  const watched = new Set<Connection>();
  let queuedBytesInAll = 0;
  const closed = measure(registry, () => queuedBytesInAll);
  const sweeper = setInterval(closeStalled, SWEEP_MS).unref();

  function connectionOf({ socket }: IncomingMessage): Connection {
    const known = bySocket.get(socket);
    if (known) return known;
    const connection = { socket, requests: 0, queuedBytes: 0, progressAtMs: 0, isWatched: false };
    bySocket.set(socket, connection);
    return connection;
  }

  /**
   * The sweep removes the connection later: a Set that changes with each request keeps garbage
   * alive.
   */
  function watch(connection: Connection): void {
    if (connection.isWatched) return;
    connection.isWatched = true;
    watched.add(connection);
  }

  function closeStalled(): void {
    const before = monotonicMs() - limits.stallTimeoutMs;
    for (const connection of watched) {
      if (connection.queuedBytes > 0 && connection.progressAtMs <= before) cut(connection, "stalled");
      if (connection.queuedBytes > 0) continue;
      watched.delete(connection);
      connection.isWatched = false;
    }
  }

  function cut(connection: Connection, reason: CloseReason): void {
    closed.inc({ reason });
    log.warn(
      { reason, requests: connection.requests, queuedBytes: connection.queuedBytes },
      "connection closed",
    );
    // The requests of this connection end only in the next turn of the event loop.
    queuedBytesInAll -= connection.queuedBytes;
    connection.queuedBytes = 0;
    connection.socket.destroy();
  }

  function closeLongestUnread(): void {
    let longest: Connection | undefined;
    for (const connection of watched) {
      if (connection.queuedBytes === 0) continue;
      if (longest === undefined || connection.progressAtMs < longest.progressAtMs) longest = connection;
    }
    if (longest) cut(longest, "unread");
  }

  return {
    begin(req) {
      if (req.socket.destroyed) return false;
      const connection = connectionOf(req);
      if (connection.requests >= limits.maxRequests) {
        cut(connection, "pipelined");
        return false;
      }
      connection.requests += 1;
      return true;
    },
    queue(req, bytes) {
      if (req.socket.destroyed) return false;
      const connection = connectionOf(req);
      if (connection.queuedBytes > 0 && connection.queuedBytes + bytes > limits.maxQueuedBytes) {
        cut(connection, "unread");
        return false;
      }
      if (connection.queuedBytes === 0) {
        connection.progressAtMs = monotonicMs();
        watch(connection);
      }
      connection.queuedBytes += bytes;
      queuedBytesInAll += bytes;
      // A single answer may exceed the whole limit.
      while (queuedBytesInAll > limits.maxQueuedBytesInAll && queuedBytesInAll > bytes) closeLongestUnread();
      return !req.socket.destroyed;
    },
    end(req, bytes) {
      const connection = connectionOf(req);
      connection.requests -= 1;
      // Zero after the connection was cut: its bytes are subtracted already.
      const counted = Math.min(bytes, connection.queuedBytes);
      connection.queuedBytes -= counted;
      queuedBytesInAll -= counted;
      connection.progressAtMs = monotonicMs();
    },
    close: () => clearInterval(sweeper),
  };
}

function measure(registry: Registry, queuedBytes: () => number): Counter<"reason"> {
  new Gauge({
    name: "gateway_queued_answer_bytes",
    help: "Bytes of answers that wait for clients to read them",
    registers: [registry],
    collect() {
      this.set(queuedBytes());
    },
  });
  const closed = new Counter({
    name: "gateway_connections_closed_total",
    help: "Connections closed because the client sent too many requests at once or did not read its answers",
    labelNames: ["reason"],
    registers: [registry],
  });
  for (const reason of ["pipelined", "unread", "stalled"] as const) closed.inc({ reason }, 0);
  return closed;
}
