import { Gauge, type Registry } from "@wonrail/kit/metrics";

/** A wallet with an entry in the ledger that has not come here yet. */
export interface Unheard {
  orgId: string;
  walletId: string;
  /** Of its newest line there. */
  sequence: bigint;
}

export interface UnheardRound {
  /** With whether the organisation has entries on the shelf: it may be one of those. */
  note(one: Unheard, mayBeShelved: boolean): void;
  /** Forgets what was not noted in this round. Gives those that have waited longest: of those that are not on any shelf, and of those that may be, but for too long. */
  end(): (Unheard & { seconds: number })[];
}

interface Noted extends Unheard {
  sinceMs: number;
  mayBeShelved: boolean;
}

export interface UnheardWatch {
  begin(): UnheardRound;
}

/**
 * So many are remembered that are not on any shelf, and so many that may be: however much is on one, there is room for what was lost elsewhere. When more
 * wait at once all are late, of which there are other alarms.
 */
const MOST_EACH = 10_000;
/** What may be on the shelf is told of only after so long; while the ledger still has its event to bring once more, which it keeps for a day. */
const SHELVED_MS = 12 * 3_600_000;
/** Whichever replica comes first makes a comparison. What this one saw before so long a break may have come since. */
const BREAK_MS = 600_000;

/**
 * Since when a wallet's newest entry has not been heard of. What is on its way is there in the next comparison or the one after, or a newer entry is
 * waited for: what stays the same for long was lost.
 */
export function createUnheardWatch(registry: Registry, now: () => number): UnheardWatch {
  let known = new Map<string, Noted>();
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
      const before: ReadonlyMap<string, Noted> = startedMs - endedMs > BREAK_MS ? new Map() : known;
      const found: typeof known = new Map();
      const kept = [...before.values()].filter(({ mayBeShelved }) => mayBeShelved).length;
      const room = { shelved: MOST_EACH - kept, others: MOST_EACH - (before.size - kept) };
      return {
        note(one, mayBeShelved) {
          const key = `${one.orgId}|${one.walletId}`;
          const last = before.get(key);
          if (last?.sequence === one.sequence) return void found.set(key, { ...last, mayBeShelved });
          const which = mayBeShelved ? "shelved" : "others";
          if (room[which] <= 0) return;
          room[which] -= 1;
          found.set(key, { ...one, sinceMs: startedMs, mayBeShelved });
        },
        end() {
          known = found;
          endedMs = now();
          const late = [...found.values()].filter(
            ({ mayBeShelved, sinceMs }) => !mayBeShelved || endedMs - sinceMs > SHELVED_MS,
          );
          const oldest = [false, true]
            .map((shelved) => oldestOf(late.filter(({ mayBeShelved }) => mayBeShelved === shelved)))
            .filter((one) => one !== undefined)
            .map((one) => ({ ...one, seconds: (endedMs - one.sinceMs) / 1000 }));
          seconds = Math.max(0, ...oldest.map((one) => one.seconds));
          return oldest;
        },
      };
    },
  };
}

function oldestOf(all: Noted[]): Noted | undefined {
  return all.reduce<Noted | undefined>(
    (first, one) => (first && first.sinceMs <= one.sinceMs ? first : one),
    undefined,
  );
}
