import { type Queryable } from "@wonrail/kit/db";
import { type Counts, countOrganisationsAndKeys } from "../store/searches";

const MOST_COUNTED = 200_000;

/** Counts organisations and keys for operators. */
export function getOverview({ db }: { db: Queryable }): Promise<Counts> {
  return countOrganisationsAndKeys(db, MOST_COUNTED);
}
