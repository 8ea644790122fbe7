import { named, sql, type Tx } from "@wonrail/kit/db";
import type { Account, Entry } from "../domain/types";
import { braces, hexOf } from "./arrays";
import { transactionTypes } from "./codes";

/** Writes the postings of a batch and brings their accounts to what was decided: see migrations/0009_write_postings.sql. */
export function writePostings(tx: Tx, entries: Entry[], touched: Account[]): void {
  const numbers: bigint[] = [];
  const sequences: bigint[] = [];
  const amounts: bigint[] = [];
  const balances: bigint[] = [];
  const entryIds: string[] = [];
  const orgIds: string[] = [];
  const types: number[] = [];
  for (const { orgId, requestId, postings } of entries) {
    const entryId = hexOf(requestId);
    const org = hexOf(orgId);
    for (const posting of postings) {
      numbers.push(posting.accountNumber);
      sequences.push(posting.sequence);
      amounts.push(posting.amountWon);
      balances.push(posting.balanceAfterWon);
      entryIds.push(entryId);
      orgIds.push(org);
      types.push(transactionTypes.toCode(posting.type));
    }
  }
  tx.push(
    named(
      "postings_write",
      sql`
        select write_postings(
          ${braces(numbers)}::bigint[], ${braces(sequences)}::bigint[], ${braces(amounts)}::bigint[], ${braces(balances)}::bigint[],
          ${braces(entryIds)}::uuid[], ${braces(orgIds)}::uuid[], ${braces(types)}::smallint[],
          ${braces(touched.map(({ number }) => number))}::bigint[],
          ${braces(touched.map(({ balanceWon }) => balanceWon))}::bigint[],
          ${braces(touched.map(({ heldWon }) => heldWon))}::bigint[],
          ${braces(touched.map(({ limitUsedWon }) => limitUsedWon))}::bigint[],
          ${braces(touched.map(({ limitDay }) => limitDay))}::integer[],
          ${braces(touched.map(({ blockTypes }) => blockTypes))}::integer[],
          ${touched.map(({ closedAtMs }) => (closedAtMs === null ? null : new Date(closedAtMs)))}::timestamptz[]
        )`,
    ),
  );
}
