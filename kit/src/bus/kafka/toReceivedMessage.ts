import type { ReceivedMessage } from "../port";

export interface RawMessage {
  key: Buffer | null;
  value: Buffer | null;
  offset: string;
  headers?: Record<string, HeaderValue | HeaderValue[] | undefined>;
}

type HeaderValue = Buffer | string;

/** Converts a message. An absent key or value becomes empty. */
export function toReceivedMessage(topic: string, partition: number, message: RawMessage): ReceivedMessage {
  return {
    topic,
    partition,
    offset: message.offset,
    key: message.key?.toString() ?? "",
    value: message.value ?? Buffer.alloc(0),
    headers: Object.fromEntries(
      Object.entries(message.headers ?? {}).map(([name, value]) => [name, textOf(value)]),
    ),
  };
}

/** Kafka allows a header many times; the last one counts. */
function textOf(value: HeaderValue | HeaderValue[] | undefined): string {
  const last = Array.isArray(value) ? value.at(-1) : value;
  return last?.toString() ?? "";
}
