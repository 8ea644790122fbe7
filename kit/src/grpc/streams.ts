import { once } from "node:events";
import { type Writable } from "node:stream";

/**
 * Writes every message as fast as the other side takes it. Ends when the messages do or the signal aborts; a producer that is waiting at
 * that moment is told to return, so that its cleanup runs. An error of the producer is the caller's.
 */
export async function writeAll(
  messages: AsyncIterable<unknown>,
  stream: Writable,
  signal: AbortSignal,
): Promise<void> {
  const producer = messages[Symbol.asyncIterator]();
  const stop = () => void producer.return?.().catch(() => undefined);
  signal.addEventListener("abort", stop);
  try {
    for (let next = await producer.next(); !next.done && !signal.aborted; next = await producer.next()) {
      if (!stream.write(next.value)) await drained(stream, signal);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await producer.return?.();
  }
}

async function drained(stream: Writable, signal: AbortSignal): Promise<void> {
  try {
    await once(stream, "drain", { signal });
  } catch (error) {
    // A stream that was torn down will never drain.
    if (!signal.aborted) throw error;
  }
}
