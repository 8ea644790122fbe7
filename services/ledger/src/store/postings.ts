import { named, sql, type Tx } from "@wonrail/kit/db";
import { assert } from "@wonrail/kit/errors";
import { idToUuid } from "@wonrail/kit/ids";
import type { Account, Entry } from "../domain/types";
import { transactionTypes } from "./codes";

/**
 * Writes the postings of a batch, and adds those very rows to their accounts: a balance is the sum of its postings because it is made of
 * nothing else. What is not a movement (held, limit, closing) comes with the account as it was decided.
 */
export async function writePostings(tx: Tx, entries: Entry[], touched: Account[]): Promise<void> {
  if (touched.length === 0) return;
  const numbers: bigint[] = [];
  const sequences: bigint[] = [];
  const amounts: bigint[] = [];
  const balances: bigint[] = [];
  const entryIds: string[] = [];
  const orgIds: string[] = [];
  const types: number[] = [];
  for (const { orgId, requestId, postings } of entries) {
    const entryUuid = idToUuid(requestId);
    const orgUuid = idToUuid(orgId);
    for (const posting of postings) {
      numbers.push(posting.accountNumber);
      sequences.push(posting.sequence);
      amounts.push(posting.amountWon);
      balances.push(posting.balanceAfterWon);
      entryIds.push(entryUuid);
      orgIds.push(orgUuid);
      types.push(transactionTypes.toCode(posting.type));
    }
  }
  const updated = await tx.run(
    named(
      "postings_write",
      sql`
        with posted as (
          insert into postings (account_number, sequence, amount_won, balance_after_won, entry_id, org_id, type)
          select * from unnest(
            ${numbers}::bigint[], ${sequences}::bigint[], ${amounts}::bigint[], ${balances}::bigint[],
            ${entryIds}::uuid[], ${orgIds}::uuid[], ${types}::smallint[])
          returning account_number, amount_won
        ), sums as (
          select account_number, sum(amount_won)::bigint as amount_won, count(*) as postings
          from posted group by account_number
        )
        update accounts a set
          limit_used_won = c.limit_used_won,
          limit_day = c.limit_day,
          block_types = c.block_types,
          balance_won = a.balance_won + coalesce(s.amount_won, 0),
          sequence = a.sequence + coalesce(s.postings, 0),
          held_won = c.held_won,
          closed_at = c.closed_at
        from unnest(
          ${touched.map(({ number }) => number)}::bigint[],
          ${touched.map(({ limitUsedWon }) => limitUsedWon)}::bigint[],
          ${touched.map(({ limitDay }) => limitDay)}::integer[],
          ${touched.map(({ blockTypes }) => blockTypes)}::integer[],
          ${touched.map(({ heldWon }) => heldWon)}::bigint[],
          ${touched.map(({ closedAtMs }) => (closedAtMs === null ? null : new Date(closedAtMs)))}::timestamptz[]
        ) as c (number, limit_used_won, limit_day, block_types, held_won, closed_at)
        left join sums s on s.account_number = c.number
        where a.number = c.number`,
    ),
  );
  assert(updated === touched.length, `${updated} of ${touched.length} accounts were there to be updated`);
}
