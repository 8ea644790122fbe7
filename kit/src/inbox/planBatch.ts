import type { Cursor } from "./cursors";

/** An event of a feed, from Kafka or from the feed itself. */
export interface FeedMessage {
  topic: string;
  partition: number;
  number: bigint;
  key: string;
  headers: Record<string, string>;
  value: Buffer;
}

/**
 * `kafka`: may miss, repeat and reorder events. `feed`: complete behind the numbers in `after`, the
 * cursors of the call to the feed.
 */
export type Origin = { kind: "kafka" } | { kind: "feed"; after: ReadonlyMap<number, bigint> };

export interface Plan {
  /** To be handled, in order. */
  due: FeedMessage[];
  /** At or below the cursor: handled before, or under a number that a restored producer reused. */
  old: FeedMessage[];
  /** Messages behind a gap. The consumer reads the feed first. */
  behindGap: FeedMessage[];
  /** Numbers that the feed does not keep any more. */
  pruned: bigint;
  /** The cursors after the due messages; only of partitions that move. */
  moved: Map<number, bigint>;
}

/** Sorts the messages by the cursors of their partitions. */
export function planBatch(
  messages: readonly FeedMessage[],
  cursors: ReadonlyMap<number, Cursor>,
  origin: Origin,
): Plan {
  const plan: Plan = { due: [], old: [], behindGap: [], pruned: 0n, moved: new Map() };
  for (const message of messages) {
    const { partition, number } = message;
    const cursor = plan.moved.get(partition) ?? cursors.get(partition)!.number;
    const missing = number - cursor - 1n;
    if (missing < 0n) {
      plan.old.push(message);
    } else if (missing > 0n && !isPruned(origin, partition, cursors.get(partition)!.number)) {
      plan.behindGap.push(message);
    } else {
      plan.pruned += missing;
      plan.due.push(message);
      plan.moved.set(partition, number);
    }
  }
  return plan;
}

/**
 * The feed has pruned missing numbers. If the cursor was set back after the call, the feed may
 * still have them: then the answer does not count.
 */
function isPruned(origin: Origin, partition: number, cursor: bigint): boolean {
  return origin.kind === "feed" && cursor >= (origin.after.get(partition) ?? 0n);
}
