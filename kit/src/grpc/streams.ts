import { once } from "node:events";
import { type Writable } from "node:stream";

/**
 * Writes the producer's messages to a stream, and waits whenever the stream's buffer is full. Returns
 * after the last message or after an abort. In both cases the producer's cleanup (`finally`) runs.
 * Throws the producer's error.
 */
export async function writeAll(
  messages: AsyncIterable<unknown>,
  stream: Writable,
  signal: AbortSignal,
): Promise<void> {
  const producer = messages[Symbol.asyncIterator]();
  // Ends a producer that waits for its next message.
  const stop = () => void producer.return?.().catch(() => undefined);
  signal.addEventListener("abort", stop);
  try {
    for (let next = await producer.next(); !next.done && !signal.aborted; next = await producer.next()) {
      if (!stream.write(next.value)) await untilDrained(stream, signal);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await producer.return?.();
  }
}

/** Returns when the stream takes messages again, or after an abort: an aborted stream may never drain. */
async function untilDrained(stream: Writable, signal: AbortSignal): Promise<void> {
  try {
    await once(stream, "drain", { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
