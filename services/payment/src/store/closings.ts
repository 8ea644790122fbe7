import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

/** An operation that an operator wants closed for good. */
export interface Closing {
  orgId: string;
  operationId: string;
  operator: string;
  reason: string;
}

/** What came of it. CLOSED, or why not: the ledger's answer, or that nothing is open under the id. */
export type ClosingOutcome = "CLOSED" | "NOT_OPEN" | "JOURNAL" | "OPEN" | "ARCHIVE" | "UNKNOWN";

interface ClosingRow {
  org_id: string;
  operation_id: string;
  operator: string;
  reason: string;
}

/** Asked for anew, whatever came of it before. */
export async function saveClosing(tx: Tx, closing: Closing): Promise<void> {
  const { orgId, operationId, operator, reason } = closing;
  await tx.run(sql`
    insert into closings (org_id, operation_id, operator, reason)
    values (${orgId}, ${operationId}, ${operator}, ${reason})
    on conflict (org_id, operation_id) do update
    set operator = excluded.operator, reason = excluded.reason, asked_at = now(), outcome = null`);
}

/** Null while nobody has looked into it. */
export async function findClosingOutcome(
  db: Queryable,
  orgId: string,
  operationId: string,
): Promise<ClosingOutcome | null> {
  const { outcome } = await db.one<{ outcome: ClosingOutcome | null }>(sql`
    select outcome from closings where org_id = ${orgId} and operation_id = ${operationId}`);
  return outcome;
}

/** Those that nobody has looked into, in the order in which they were asked for. */
export async function listClosings(db: Queryable, limit: number): Promise<Closing[]> {
  const rows = await db.query<ClosingRow>(sql`
    select org_id, operation_id, operator, reason from closings
    where outcome is null order by asked_at, org_id, operation_id limit ${limit}`);
  return rows.map(({ org_id, operation_id, operator, reason }) => ({
    ...{ orgId: org_id, operationId: operation_id, operator, reason },
  }));
}

/** False when another replica has looked into it meanwhile. */
export async function lockClosing(
  tx: Tx,
  { orgId, operationId }: Pick<Closing, "orgId" | "operationId">,
): Promise<boolean> {
  const row = await tx.maybe(sql`
    select from closings where org_id = ${orgId} and operation_id = ${operationId} and outcome is null for update`);
  return row !== undefined;
}

export async function endClosing(
  tx: Tx,
  { orgId, operationId }: Pick<Closing, "orgId" | "operationId">,
  outcome: ClosingOutcome,
): Promise<void> {
  await tx.run(sql`
    update closings set outcome = ${outcome} where org_id = ${orgId} and operation_id = ${operationId}`);
}
