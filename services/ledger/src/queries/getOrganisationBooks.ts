import type { Queryable } from "@wonrail/kit/db";
import { sumWon, won, type Won } from "@wonrail/kit/contract/money";
import { nameOfSeoulDay, seoulDay, startOfSeoulDay } from "../domain/limits";
import type { Account } from "../domain/types";
import { findAccounts, listOrgAccountIds } from "../store/accounts";
import { findHead, listSequencesAt } from "../store/journalHeads";
import { readJournalWindow } from "../store/partitions";

export interface OrganisationBooks {
  /** The organisation's own accounts. */
  accounts: Account[];
  /** The sum of all wallets. */
  walletsWon: Won;
  entries: bigint;
  /** The last days of Asia/Seoul that the journal keeps, oldest first. */
  days: { day: string; entries: bigint }[];
}

/** Reads no wallet: the wallets' sum is the own accounts' sum with the other sign. */
export async function getOrganisationBooks(
  db: Queryable,
  { orgId, days }: { orgId: string; days: number },
  nowMs = Date.now(),
): Promise<OrganisationBooks> {
  const accounts = await findAccounts(db, orgId, listOrgAccountIds(orgId));
  const entries = await findHead(db, orgId);
  return {
    accounts,
    walletsWon: won(0n - sumWon(accounts.map(({ balanceWon }) => balanceWon))),
    entries,
    days: await countDays(db, { orgId, entries, days }, nowMs),
  };
}

async function countDays(
  db: Queryable,
  { orgId, entries, days }: { orgId: string; entries: bigint; days: number },
  nowMs: number,
): Promise<OrganisationBooks["days"]> {
  const { fromMs } = await readJournalWindow(db);
  const today = seoulDay(nowMs);
  const wanted = Array.from({ length: days }, (_, index) => today - days + 1 + index).filter(
    (day) => startOfSeoulDay(day).getTime() >= fromMs,
  );
  const before = await listSequencesAt(db, orgId, entries, wanted.map(startOfSeoulDay));
  return wanted.map((day, index) => ({
    day: nameOfSeoulDay(day),
    entries: (before[index + 1] ?? entries) - before[index]!,
  }));
}
