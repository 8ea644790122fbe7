import { subscribe } from "node:diagnostics_channel";
import { type EventEmitter } from "node:events";

/** Told by Node since 22.17 and 24.2, before a stream's own end is: it may still be read then. */
const ENDINGS = ["http2.client.stream.close", "http2.server.stream.close"];

let isHeard = false;

/**
 * Takes the listeners off each stream of HTTP/2 that is over. V8 keeps some of them for long after, by the Map that Node has them in (see bag.ts) and by more
 * than that, and grpc-js leaves its listeners on them, by which all lives on that the call was about. ADR 0173.
 */
export function emptyEndedStreams(): void {
  if (isHeard) return;
  isHeard = true;
  for (const name of ENDINGS)
    subscribe(name, (message) => {
      const { stream } = message as { stream: EventEmitter };
      // Whoever hears the end may have to do something next.
      stream.once("close", () => setImmediate(empty, stream));
    });
}

function empty(stream: EventEmitter): void {
  stream.removeAllListeners();
  // An error that nobody hears would end the process.
  stream.on("error", ignore);
}

function ignore(): void {}
