import type { Database } from "@wonrail/kit/db";
import { verifyEntries, verifyTouched } from "../../queries/verify";
import type { Violation } from "../../store/checks";
import type { EntryRange } from "../../store/entryChecks";

/** What a round finds in these times: of their entries, and of the accounts that were touched. */
export async function verifySince(
  db: Database,
  ranges: EntryRange[],
): Promise<(Violation & { invariant: string })[]> {
  const read = [];
  for (const range of ranges) read.push(await verifyEntries(db, range));
  const touched = new Set(read.flatMap((each) => each.touched));
  return [...read.flatMap(({ violations }) => violations), ...(await verifyTouched(db, [...touched]))];
}
