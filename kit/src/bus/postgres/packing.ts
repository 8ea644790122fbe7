import { StoredMessages } from "@wonrail/proto/common/v1/common";
import { groupBy } from "../../groupBy";
import type { BusMessage } from "../port";
import { keyHash } from "./keyHash";

/** What of a topic decides how its messages are stored. */
export interface TopicForm {
  partitions: number;
  packed: boolean;
}

/** One row of the table: a message, or several of one partition. */
export interface MessageRow {
  topic: string;
  partition: number;
  /** How many messages of the partition are stored before, in the same statement. */
  before: number;
  messages: number;
  key: string;
  value: Uint8Array;
  headers: string;
}

/** A message as its reader gets it. */
export interface StoredMessage {
  position: bigint;
  key: string;
  value: Buffer;
  headers: Record<string, string>;
  stored_at: Date;
}

/** What a row of the table is read as. */
export interface ReadRow extends StoredMessage {
  messages: number;
}

/** A reader that wants fewer reads all of them, and leaves the others for the next time. With a hundred a reader in a rush took 16 MB more. */
const LARGEST_PACK = 25;

/** Each partition's messages in their order; those of a topic that nobody knows stand for themselves, in a partition that there is not. */
export function rowsOf(messages: BusMessage[], forms: Map<string, TopicForm>): MessageRow[] {
  const partitionOf = ({ topic, key }: BusMessage) => keyHash(key) % (forms.get(topic)?.partitions ?? 1);
  const byPartition = groupBy(messages, (message) => `${message.topic} ${partitionOf(message)}`);
  return [...byPartition.values()].flatMap((those) => {
    const { topic } = those[0]!;
    const partition = partitionOf(those[0]!);
    const size = forms.get(topic)?.packed ? LARGEST_PACK : 1;
    const rows: MessageRow[] = [];
    for (let before = 0; before < those.length; before += size) {
      rows.push({ topic, partition, before, ...pack(those.slice(before, before + size)) });
    }
    return rows;
  });
}

function pack(messages: BusMessage[]): Pick<MessageRow, "messages" | "key" | "value" | "headers"> {
  const stored = messages.map(({ key, value, headers }) => ({
    key,
    value,
    headers: JSON.stringify(headers),
  }));
  if (stored.length === 1) return { messages: 1, ...stored[0]! };
  const value = StoredMessages.encode({ messages: stored }).finish();
  return { messages: stored.length, key: "", value, headers: "{}" };
}

/** The messages of a row from a position on. */
export function unpack(row: ReadRow, from: bigint): StoredMessage[] {
  if (row.messages === 1) return [row];
  const skipped = row.position < from ? Number(from - row.position) : 0;
  const { messages } = StoredMessages.decode(row.value);
  return messages.slice(skipped).map(({ key, value, headers }, index) => ({
    position: row.position + BigInt(skipped + index),
    key,
    value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    headers: JSON.parse(headers) as Record<string, string>,
    stored_at: row.stored_at,
  }));
}
