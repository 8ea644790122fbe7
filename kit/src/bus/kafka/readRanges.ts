import type { ReadOnce } from "../port";
import { type RawMessage, toReceivedMessage } from "./toReceivedMessage";

/** Offsets of a partition: the first to be read, and the one behind the last. */
interface OffsetRange {
  from: bigint;
  end: bigint;
}

export type OffsetRanges = ReadonlyMap<number, OffsetRange>;

/** The part of kafkajs' consumer that is used here. */
interface OnceConsumer {
  connect(): Promise<void>;
  subscribe(of: { topics: string[]; fromBeginning: boolean }): Promise<void>;
  run(how: { autoCommit: boolean; eachBatch: (batch: OnceBatch) => Promise<void> }): Promise<void>;
  seek(to: { topic: string; partition: number; offset: string }): void;
}

interface OnceBatch {
  batch: { partition: number; messages: (RawMessage & { offset: string })[]; lastOffset(): string };
  heartbeat: () => Promise<void>;
}

/** The partitions with messages to be read, from the offsets at the start time and at the end. */
export function rangesOf(
  starts: { partition: number; offset: string }[],
  ends: { partition: number; high: string }[],
): OffsetRanges {
  const ranges = starts.map(({ partition, offset }): [number, OffsetRange] => {
    const end = ends.find((one) => one.partition === partition)?.high ?? "0";
    return [partition, { from: BigInt(offset), end: BigInt(end) }];
  });
  return new Map(ranges.filter(([, { from, end }]) => from >= 0n && from < end));
}

/**
 * Hands each message of the ranges to the handler, each partition in order. Resolves after the last
 * message. Rejects when the handler or the consumer fails.
 */
export async function readRanges(
  consumer: OnceConsumer,
  of: Pick<ReadOnce, "topic" | "handle"> & {
    ranges: OffsetRanges;
    onCrash: (listener: (error: Error) => void) => void;
  },
): Promise<void> {
  const { topic, handle, ranges, onCrash } = of;
  if (ranges.size === 0) return;
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const left = new Map(ranges);
  await new Promise<void>((resolve, reject) => {
    onCrash(reject);
    const read = async ({ batch, heartbeat }: OnceBatch): Promise<void> => {
      const range = left.get(batch.partition);
      if (!range) return;
      for (const message of batch.messages) {
        const offset = BigInt(message.offset);
        if (offset >= range.from && offset < range.end)
          await handle(toReceivedMessage(topic, batch.partition, message));
        await heartbeat();
      }
      if (BigInt(batch.lastOffset()) + 1n >= range.end) left.delete(batch.partition);
      if (left.size === 0) resolve();
    };
    const seekAll = (): void => {
      for (const [partition, { from }] of ranges)
        consumer.seek({ topic, partition, offset: from.toString() });
    };
    const eachBatch = (batch: OnceBatch) => read(batch).catch(reject);
    consumer.run({ autoCommit: false, eachBatch }).then(seekAll).catch(reject);
  });
}
