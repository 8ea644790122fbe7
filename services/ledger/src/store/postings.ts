import { named, sql, type Tx } from "@wonrail/kit/db";
import type { Account, Entry } from "../domain/types";
import { emptyWhenAllNull, uuidArray } from "./arrays";
import { freezes, transactionTypes } from "./codes";

/** Writes the postings of a batch and the new state of their accounts: see migrations/0004_write_postings.sql. */
export function writePostings(tx: Tx, entries: Entry[], touched: Account[]): void {
  const numbers: bigint[] = [];
  const sequences: bigint[] = [];
  const amounts: bigint[] = [];
  const balances: bigint[] = [];
  const entryIds: string[] = [];
  const orgIds: string[] = [];
  const types: number[] = [];
  for (const { orgId, requestId, postings } of entries) {
    for (const posting of postings) {
      numbers.push(posting.accountNumber);
      sequences.push(posting.sequence);
      amounts.push(posting.amountWon);
      balances.push(posting.balanceAfterWon);
      entryIds.push(requestId);
      orgIds.push(orgId);
      types.push(transactionTypes.toCode(posting.type));
    }
  }
  tx.push(
    named(
      "postings_write",
      sql`
        select write_postings(
          ${numbers}::bigint[], ${sequences}::bigint[], ${amounts}::bigint[], ${balances}::bigint[],
          ${uuidArray(entryIds)}::uuid[], ${uuidArray(orgIds)}::uuid[], ${types}::smallint[],
          ${touched.map(({ number }) => number)}::bigint[],
          ${touched.map(({ balanceWon }) => balanceWon)}::bigint[],
          ${touched.map(({ heldWon }) => heldWon)}::bigint[],
          ${touched.map(({ limitUsedWon }) => limitUsedWon)}::bigint[],
          ${touched.map(({ limitDay }) => limitDay)}::integer[],
          ${touched.map(({ blockTypes }) => blockTypes)}::integer[],
          ${touched.map(({ frozenByChain }) => freezes.toCode(frozenByChain))}::smallint[],
          ${touched.map(({ frozenByOperator }) => freezes.toCode(frozenByOperator))}::smallint[],
          ${emptyWhenAllNull(touched.map(({ closedAtMs }) => (closedAtMs === null ? null : new Date(closedAtMs))))}::timestamptz[]
        )`,
    ),
  );
}
