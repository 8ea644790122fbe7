import { groupBy } from "../groupBy";
import { createBatchQueue, type Outcome } from "../batchQueue";
import type { Registry } from "../metrics";
import type { BusMetrics } from "./metrics";
import { MAX_MESSAGE_BYTES, MessageRefusedError, type BusMessage } from "./port";

/** Limit of a request, which the broker accepts even if all messages are of one partition. */
const MAX_REQUEST_BYTES = MAX_MESSAGE_BYTES;
const MAX_CALLS_AT_ONCE = 256;
const MAX_CALLS_WAITING = 4_096;

export interface Publisher {
  publish(messages: BusMessage[]): Promise<void>;
  close(): Promise<void>;
}

export interface PublisherParts {
  /**
   * Stores all messages, each partition's in order, or rejects. Never called again before it has
   * settled.
   */
  send: (messages: BusMessage[]) => Promise<void>;
  metrics: BusMetrics;
  registry?: Registry | undefined;
}

/** Messages of one call, and their size. */
interface Call {
  messages: BusMessage[];
  bytes: number;
}

/**
 * One request at a time, with all messages published during the last one: that keeps the order and
 * batches small calls.
 */
export function createPublisher({ send, metrics, registry }: PublisherParts): Publisher {
  const queue = createBatchQueue<Call, void>({
    name: "bus_publish",
    work: (calls) => sendAll(calls, send),
    maxBatch: MAX_CALLS_AT_ONCE,
    maxQueue: MAX_CALLS_WAITING,
    ...(registry && { registry }),
  });
  return {
    async publish(messages) {
      if (messages.length === 0) return;
      const call = { messages, bytes: 0 };
      for (const message of messages) call.bytes += bytesOfUsable(message);
      const observe = metrics.publishSeconds.startTimer();
      await queue.submit(call);
      observe();
      for (const [topic, those] of groupBy(messages, ({ topic }) => topic))
        metrics.published.inc({ topic }, those.length);
    },
    close: () => queue.close(),
  };
}

/**
 * A call is acknowledged with the request of its last message. After a failed request nothing newer
 * is sent.
 */
async function sendAll(calls: Call[], send: PublisherParts["send"]): Promise<Outcome<void>[]> {
  let stored = 0;
  let failure: { error: unknown } | undefined;
  try {
    for (const request of requests(calls)) {
      await send(request);
      stored += request.length;
    }
  } catch (error) {
    failure = { error };
  }
  let end = 0;
  return calls.map((call) => {
    end += call.messages.length;
    if (failure !== undefined && end > stored) return { ok: false, error: failure.error };
    return { ok: true, value: undefined };
  });
}

function requests(calls: Call[]): BusMessage[][] {
  const messages = calls.flatMap((call) => call.messages);
  if (calls.reduce((sum, { bytes }) => sum + bytes, 0) <= MAX_REQUEST_BYTES) return [messages];
  const result: BusMessage[][] = [];
  let room = 0;
  for (const message of messages) {
    const bytes = bytesOf(message);
    if (bytes > room || result.length === 0) {
      result.push([]);
      room = MAX_REQUEST_BYTES;
    }
    result.at(-1)!.push(message);
    room -= bytes;
  }
  return result;
}

function bytesOfUsable(message: BusMessage): number {
  const { topic } = message;
  const bytes = bytesOf(message);
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new MessageRefusedError(
      `A message of ${bytes} bytes for ${topic} is over the limit of ${MAX_MESSAGE_BYTES}: publish a reference to the content instead.`,
    );
  }
  return bytes;
}

function bytesOf({ key, value, headers }: BusMessage): number {
  let bytes = value.length + Buffer.byteLength(key);
  for (const name in headers) bytes += Buffer.byteLength(name) + Buffer.byteLength(headers[name]!);
  return bytes;
}
