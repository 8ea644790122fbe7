export interface Membership {
  /** The group has heard of it. */
  confirmed(): void;
  /** It has fetched. True, once, when it has done so for too long without being heard of: the group has gone on without it. */
  fetched(): boolean;
}

/** Kafkajs asks a coordinator that is gone for ever, and never who it is by now; meanwhile it consumes and can commit nothing. */
export function watchMembership(tooLongMs: number): Membership {
  let straySinceMs: number | undefined;
  let fetchedMs = -Infinity;
  return {
    confirmed: () => void (straySinceMs = undefined),
    fetched() {
      const nowMs = performance.now();
      // After so long a pause the bus was away, and its first answer may be to either.
      if (straySinceMs === undefined || nowMs - fetchedMs > tooLongMs) straySinceMs = nowMs;
      fetchedMs = nowMs;
      if (nowMs - straySinceMs <= tooLongMs) return false;
      straySinceMs = Infinity;
      return true;
    },
  };
}
