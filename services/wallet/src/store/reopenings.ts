import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

/** A deactivated wallet that an operator wants reopened. */
export interface Reopening {
  orgId: string;
  walletId: string;
  /** The request id for opening the ledger account again. */
  requestId: string;
  operator: string;
}

interface ReopeningRow {
  org_id: string;
  wallet_id: string;
  request_id: string;
  operator: string;
}

/** Stores a request to reopen, or returns the existing one. */
export async function insertReopening(tx: Tx, reopening: Reopening): Promise<Reopening> {
  const { orgId, walletId, requestId, operator } = reopening;
  await tx.run(sql`
    insert into reopenings (org_id, wallet_id, request_id, operator)
    values (${orgId}, ${walletId}, ${requestId}, ${operator})
    on conflict (org_id, wallet_id) do nothing`);
  return (await findReopening(tx, orgId, walletId))!;
}

export async function findReopening(
  db: Queryable,
  orgId: string,
  walletId: string,
): Promise<Reopening | undefined> {
  const row = await db.maybe<ReopeningRow>(sql`
    select org_id, wallet_id, request_id, operator from reopenings
    where org_id = ${orgId} and wallet_id = ${walletId}`);
  return row && toReopening(row);
}

/** Lists the oldest requests first. */
export async function listReopenings(db: Queryable, limit: number): Promise<Reopening[]> {
  const rows = await db.query<ReopeningRow>(sql`
    select org_id, wallet_id, request_id, operator from reopenings
    order by asked_at, org_id, wallet_id limit ${limit}`);
  return rows.map(toReopening);
}

/** Returns false when another caller has done it. */
export async function deleteReopening(tx: Tx, { orgId, walletId, requestId }: Reopening): Promise<boolean> {
  const row = await tx.maybe(sql`
    delete from reopenings
    where org_id = ${orgId} and wallet_id = ${walletId} and request_id = ${requestId} returning 1 as done`);
  return row !== undefined;
}

function toReopening(row: ReopeningRow): Reopening {
  return {
    orgId: row.org_id,
    walletId: row.wallet_id,
    requestId: row.request_id,
    operator: row.operator,
  };
}
