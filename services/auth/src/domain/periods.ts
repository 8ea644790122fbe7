import { type Quota } from "./plans";

/**
 * A quota counts within a period. `resetsAt` is exclusive, and absent for a quota without reset.
 */
export interface Period {
  name: string;
  resetsAt?: Date;
}

/** Korea has kept UTC+9 without summer time since 1988, so a month needs no time zone table. */
const SEOUL_OFFSET_MS = 9 * 3_600_000;

export function periodOf(quota: Quota, now: Date): Period {
  return quota === "WALLETS" ? { name: "ever" } : monthInSeoul(now);
}

/** The name of an earlier month: 0 is this one. */
export function monthsAgoInSeoul(now: Date, months: number): string {
  const wallClock = new Date(now.getTime() + SEOUL_OFFSET_MS);
  const first = Date.UTC(wallClock.getUTCFullYear(), wallClock.getUTCMonth() - months);
  return new Date(first).toISOString().slice(0, 7);
}

export function monthInSeoul(now: Date): Required<Period> {
  const wallClock = new Date(now.getTime() + SEOUL_OFFSET_MS);
  const nextMonthMs = Date.UTC(wallClock.getUTCFullYear(), wallClock.getUTCMonth() + 1);
  return { name: wallClock.toISOString().slice(0, 7), resetsAt: new Date(nextMonthMs - SEOUL_OFFSET_MS) };
}
