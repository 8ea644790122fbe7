import { largest } from "@wonrail/kit/contract/bigints";
import { DomainError } from "@wonrail/kit/contract/errors";
import { ZERO_WON, won, type Won } from "@wonrail/kit/contract/money";
import type { Account } from "./types";

const SEOUL_OFFSET_MS = 9 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** The day of Asia/Seoul, counted from 1970. Korea has had no summer time since 1988. */
export function seoulDay(nowMs: number): number {
  return Math.floor((nowMs + SEOUL_OFFSET_MS) / DAY_MS);
}

/** The first moment of a day that `seoulDay` gave. */
export function startOfSeoulDay(day: number): Date {
  return new Date(day * DAY_MS - SEOUL_OFFSET_MS);
}

/** "2026-11-30" */
export function nameOfSeoulDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/**
 * The day whose limit counts. A clock that is set back over midnight, as after a failover, does not
 * grant the previous day again.
 */
export function limitDayOf(account: Account, nowMs: number): number {
  const today = seoulDay(nowMs);
  return account.limitDay === today + 1 ? account.limitDay : today;
}

export function usedOn(account: Account, day: number): Won {
  return account.limitDay === day ? account.limitUsedWon : ZERO_WON;
}

/** The organisation's policy for one day. `code` is the refusal of what exceeds it. */
export interface DailyLimit {
  limitWon: Won;
  code: "TRF_003" | "CHG_008";
  /** Tells the daily limit from the other limits of the code. */
  details?: { reason: "daily_limit" };
}

export function requireWithinLimit(
  account: Account,
  day: number,
  amountWon: Won,
  { limitWon, code, details }: DailyLimit,
): void {
  const usedWon = usedOn(account, day);
  if (usedWon + amountWon <= limitWon) return;
  throw new DomainError(code, { ...details, dailyLimit: Number(limitWon), usedToday: Number(usedWon) });
}

export function takeFromLimit(account: Account, day: number, amountWon: Won): void {
  account.limitUsedWon = won(usedOn(account, day) + amountWon);
  account.limitDay = day;
}

/**
 * Returns an amount on its day. If a wrong clock left the day and came back, the day's used amount
 * is lost, so the result stays at 0 or above.
 */
export function giveBackToLimit(account: Account, day: number, amountWon: Won): void {
  if (account.limitDay !== day) return;
  account.limitUsedWon = largest(won(account.limitUsedWon - amountWon), ZERO_WON);
}
