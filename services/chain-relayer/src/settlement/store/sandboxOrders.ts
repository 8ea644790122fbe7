import { type SettlementOrder } from "@wonrail/kit/contract/sandboxMemos";
import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { FAILED_IN_SANDBOX } from "../domain/holdFailureReasons";
import { type Operation, type OperationKey } from "./operations";

// Outcomes that a partner orders for its settlements in the sandbox of a test network.

export interface SandboxOrder extends OperationKey {
  order: SettlementOrder;
}

/** Stores the orders of memos with the operations that were just pulled. */
export function insertOrders(tx: Tx, orders: readonly SandboxOrder[]): void {
  if (orders.length === 0) return;
  tx.push(sql`
    update operations o set sandbox_order = given.sandbox_order
    from unnest(${orders.map(({ orgId }) => orgId)}::text[], ${orders.map(({ ledgerRef }) => ledgerRef)}::text[],
      ${orders.map(({ order }) => order)}::text[]) as given (org_id, ledger_ref, sandbox_order)
    where o.org_id = given.org_id and o.ledger_ref = given.ledger_ref and o.state = 'WAITING'`);
}

/** The lock lets the writer see the order before it binds the operation to a transaction. */
export function lockOperation(
  tx: Tx,
  { orgId, ledgerRef }: OperationKey,
): Promise<Pick<Operation, "state" | "kind"> | undefined> {
  return tx.maybe<Pick<Operation, "state" | "kind">>(sql`
    select state, kind from operations where org_id = ${orgId} and ledger_ref = ${ledgerRef} for update`);
}

export async function saveOrder(tx: Tx, { orgId, ledgerRef, order }: SandboxOrder): Promise<void> {
  await tx.run(sql`
    update operations set sandbox_order = ${order}, updated_at = now()
    where org_id = ${orgId} and ledger_ref = ${ledgerRef}`);
}

/** The operation goes on. A hold that was about to fail returns to its place in the queue. */
export async function deleteOrder(tx: Tx, { orgId, ledgerRef }: OperationKey): Promise<void> {
  await tx.run(sql`
    update operations set sandbox_order = null, retry_at = now(), updated_at = now(),
      state = case when wait_reason = ${FAILED_IN_SANDBOX} and attempts = 0 then 'WAITING' else state end,
      expires_at = case when wait_reason = ${FAILED_IN_SANDBOX} then null else expires_at end,
      wait_reason = case when wait_reason = ${FAILED_IN_SANDBOX} then null else wait_reason end
    where org_id = ${orgId} and ledger_ref = ${ledgerRef}`);
}

/** Ends the clocks of holds that are ordered to fail: each fails once that is proven safe. */
export async function expireOrderedHolds(db: Queryable): Promise<void> {
  await db.run(sql`
    update operations set state = 'PLANNED', turn = coalesce(turn, nextval('operation_turns')),
      wait_reason = ${FAILED_IN_SANDBOX}, expires_at = now(), updated_at = now()
    where sandbox_order = 'FAIL' and state in ('WAITING', 'PLANNED')
      and wait_reason is distinct from ${FAILED_IN_SANDBOX}`);
}
