const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

export interface Redelivery {
  /** Returns the partition's next pause after a failed handler. */
  failed(partition: string): number;
  done(partition: string): void;
}

/** A failing handler gets its messages again with growing pauses; other partitions do not wait. */
export function createRedelivery(random: () => number = Math.random): Redelivery {
  const failures = new Map<string, number>();
  return {
    failed(partition) {
      const before = failures.get(partition) ?? 0;
      failures.set(partition, before + 1);
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** before, LONGEST_PAUSE_MS);
      return pauseMs * (0.5 + random() / 2);
    },
    done(partition) {
      failures.delete(partition);
    },
  };
}
