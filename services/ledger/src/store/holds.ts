import { named, sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { idToUuid, joinId, prefixOf, uuidToId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import type { Hold, HoldState } from "../domain/types";

interface HoldRow {
  org_id: string;
  id: string;
  request_prefix: string;
  account_number: bigint;
  account_id: string;
  amount_won: bigint;
  to_address: string;
  limit_day: number;
  state: HoldState;
  sequence: bigint;
}

/** Read the state only under the lock of the hold's account. The other columns never change. */
export async function findHolds(
  db: Queryable,
  wanted: { orgId: string; requestId: string }[],
): Promise<Hold[]> {
  const rows = await db.query<HoldRow>(
    named(
      "holds_find",
      sql`
        select h.org_id, h.id, h.request_prefix, h.account_number, a.id as account_id, h.amount_won,
          h.to_address, h.limit_day, h.state, h.sequence
        from holds h join accounts a on a.number = h.account_number
        where (h.org_id, h.id) in (
          select * from unnest(
            ${wanted.map(({ orgId }) => idToUuid(orgId))}::uuid[],
            ${wanted.map(({ requestId }) => idToUuid(requestId))}::uuid[]))`,
    ),
  );
  return rows.map((row) => ({
    orgId: uuidToId("org", row.org_id),
    requestId: joinId(row.request_prefix, row.id),
    accountNumber: row.account_number,
    accountId: uuidToId("wal", row.account_id),
    amountWon: won(row.amount_won),
    toAddress: row.to_address,
    limitDay: row.limit_day,
    state: row.state,
    sequence: row.sequence,
  }));
}

/** An open hold with the time of its request. */
export interface OpenHold extends Pick<Hold, "requestId" | "amountWon" | "toAddress"> {
  placedAt: Date;
}

/** The open holds of an account, oldest first. */
export async function listOpenHolds(
  db: Queryable,
  accountNumber: bigint,
  limit: number,
): Promise<OpenHold[]> {
  const rows = await db.query<
    Pick<HoldRow, "id" | "request_prefix" | "amount_won" | "to_address"> & { placed_at: Date }
  >(sql`
    select id, request_prefix, amount_won, to_address, placed_at from holds
    where account_number = ${accountNumber} and state = 'open'
    order by placed_at, id limit ${limit}`);
  return rows.map((row) => ({
    requestId: joinId(row.request_prefix, row.id),
    amountWon: won(row.amount_won),
    toAddress: row.to_address,
    placedAt: row.placed_at,
  }));
}

/** A hold that was placed and settled in one batch is inserted as settled. */
export function saveHolds(tx: Tx, holds: Hold[], nowMs: number): void {
  const now = new Date(nowMs);
  tx.push(
    named(
      "holds_save",
      sql`
        insert into holds (org_id, id, request_prefix, account_number, amount_won, to_address, limit_day, state,
          sequence, placed_at, settled_at)
        select org_id, id, request_prefix, account_number, amount_won, to_address, limit_day, state, sequence, ${now}::timestamptz,
          case when state <> 'open' then ${now}::timestamptz end
        from unnest(
          ${holds.map(({ orgId }) => idToUuid(orgId))}::uuid[],
          ${holds.map(({ requestId }) => idToUuid(requestId))}::uuid[],
          ${holds.map(({ requestId }) => prefixOf(requestId))}::text[],
          ${holds.map(({ accountNumber }) => accountNumber)}::bigint[],
          ${holds.map(({ amountWon }) => amountWon)}::bigint[],
          ${holds.map(({ toAddress }) => toAddress)}::text[],
          ${holds.map(({ limitDay }) => limitDay)}::integer[],
          ${holds.map(({ state }) => state)}::text[],
          ${holds.map(({ sequence }) => sequence)}::bigint[]
        ) as h (org_id, id, request_prefix, account_number, amount_won, to_address, limit_day, state, sequence)
        on conflict (org_id, id) do update set state = excluded.state, settled_at = excluded.settled_at`,
    ),
  );
}
