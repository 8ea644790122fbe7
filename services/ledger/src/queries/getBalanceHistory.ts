import type { Queryable } from "@wonrail/kit/db";
import { type Won } from "@wonrail/kit/contract/money";
import { nameOfSeoulDay, seoulDay, startOfSeoulDay } from "../domain/limits";
import { readJournalWindow } from "../store/partitions";
import { hasDetachedLines, listBalancesBefore } from "../store/statements";
import { type AccountKey, mustFindAccount } from "./getAccount";

export interface BalanceOfDay {
  day: string;
  balanceWon: Won;
}

/**
 * The account's balance at the end of each of the last days of Asia/Seoul, oldest first. The days of
 * detached lines are left out, because their balances are gone.
 */
export async function getBalanceHistory(
  db: Queryable,
  { days, ...key }: AccountKey & { days: number },
  nowMs = Date.now(),
): Promise<BalanceOfDay[]> {
  const account = await mustFindAccount(db, key);
  const keptFromMs = (await hasDetachedLines(db, account)) ? (await readJournalWindow(db)).fromMs : 0;
  const today = seoulDay(nowMs);
  const wanted = Array.from({ length: days }, (_, index) => today - days + 1 + index).filter(
    (day) => startOfSeoulDay(day + 1).getTime() > keptFromMs,
  );
  const ends = wanted.map((day) => startOfSeoulDay(day + 1));
  const balances = await listBalancesBefore(db, account, ends);
  return wanted.map((day, index) => ({ day: nameOfSeoulDay(day), balanceWon: balances[index]! }));
}
