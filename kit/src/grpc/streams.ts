import { once } from "node:events";
import { type Writable } from "node:stream";

/**
 * Writes messages at the pace of the other side. Ends with the messages or on abort; a waiting
 * producer is told to return, so that its cleanup runs. The caller gets the producer's error.
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
