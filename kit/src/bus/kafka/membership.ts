export interface Membership {
  /** The group has confirmed the member. */
  confirmed(): void;
  /**
   * Reports a fetch. Returns true, once, when the member has fetched for too long without a
   * confirmation: the group has continued without it.
   */
  fetched(): boolean;
}

/**
 * kafkajs asks a vanished coordinator for ever, and never looks for the new one. Meanwhile it
 * consumes and cannot commit.
 */
export function watchMembership(tooLongMs: number): Membership {
  let straySinceMs: number | undefined;
  let fetchedMs = -Infinity;
  return {
    confirmed: () => void (straySinceMs = undefined),
    fetched() {
      const nowMs = performance.now();
      // After such a pause the bus was away, and either answer may come first.
      if (straySinceMs === undefined || nowMs - fetchedMs > tooLongMs) straySinceMs = nowMs;
      fetchedMs = nowMs;
      if (nowMs - straySinceMs <= tooLongMs) return false;
      straySinceMs = Infinity;
      return true;
    },
  };
}
