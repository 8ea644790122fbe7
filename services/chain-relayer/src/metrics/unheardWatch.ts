import { Gauge, type Registry } from "@wonrail/kit/metrics";

/** A wallet with an entry in the ledger that has not come here yet. */
export interface Unheard {
  orgId: string;
  walletId: string;
  /** Of its newest line there. */
  sequence: bigint;
}

export interface UnheardRound {
  note(one: Unheard): void;
  /** Forgets what was not noted in this round. Gives the one that has waited longest. */
  end(): (Unheard & { seconds: number }) | null;
}

export interface UnheardWatch {
  begin(): UnheardRound;
}

/** So many are remembered. When more wait at once all are late, of which there are other alarms. */
const MOST = 10_000;
/** Whichever replica comes first makes a comparison. What this one saw before so long a break may have come since. */
const BREAK_MS = 600_000;

/**
 * Since when a wallet's newest entry has not been heard of. What is on its way is there in the next comparison or the one after, or a newer entry is
 * waited for: what stays the same for long was lost.
 */
export function createUnheardWatch(registry: Registry, now: () => number): UnheardWatch {
  let known = new Map<string, Unheard & { sinceMs: number }>();
  let endedMs = -Infinity;
  let seconds = 0;
  new Gauge({
    name: "reconciliation_unheard_oldest_seconds",
    help: "For how long the ledger has had a wallet's newest entry, of which nothing has come here, at the last comparison of this process",
    registers: [registry],
    collect() {
      this.set(now() - endedMs > BREAK_MS ? 0 : seconds);
    },
  });
  return {
    begin() {
      const startedMs = now();
      const before = startedMs - endedMs > BREAK_MS ? new Map<string, never>() : known;
      const found: typeof known = new Map();
      let added = 0;
      return {
        note(one) {
          const key = `${one.orgId}|${one.walletId}`;
          const last = before.get(key);
          if (last?.sequence === one.sequence) return void found.set(key, last);
          if (before.size + added >= MOST) return;
          added += 1;
          found.set(key, { ...one, sinceMs: startedMs });
        },
        end() {
          known = found;
          endedMs = now();
          const oldest = [...found.values()].reduce<(Unheard & { sinceMs: number }) | null>(
            (first, one) => (first && first.sinceMs <= one.sinceMs ? first : one),
            null,
          );
          seconds = oldest ? (endedMs - oldest.sinceMs) / 1000 : 0;
          return oldest && { ...oldest, seconds };
        },
      };
    },
  };
}
