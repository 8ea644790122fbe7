import { subscribe } from "node:diagnostics_channel";
import { type EventEmitter } from "node:events";

/**
 * Published by Node since 22.17 and 24.2, before the stream's own end: it may still be read then.
 */
const ENDINGS = ["http2.client.stream.close", "http2.server.stream.close"];

let isHeard = false;

/**
 * Removes the listeners of each closed HTTP/2 stream. grpc-js leaves its listeners on the stream, and
 * Node keeps some closed streams alive. Without this the memory of the whole call stays alive
 * (docs/performance/memory.md).
 */
export function emptyEndedStreams(): void {
  if (isHeard) return;
  isHeard = true;
  for (const name of ENDINGS)
    subscribe(name, (message) => {
      const { stream } = message as { stream: EventEmitter };
      // Other listeners of the end may still run.
      stream.once("close", () => setImmediate(empty, stream));
    });
}

function empty(stream: EventEmitter): void {
  stream.removeAllListeners();
  // An unhandled error would end the process.
  stream.on("error", ignore);
}

function ignore(): void {}
