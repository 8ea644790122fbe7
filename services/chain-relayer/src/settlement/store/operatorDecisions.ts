import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { DEAD_ENDS } from "../domain/findEndings";
import { GIVEN_UP } from "../domain/holdFailureReasons";
import { COLUMNS, type Operation, type OperationKey, type OperationRow, toOperation } from "./operations";

/** The operation, locked; undefined unless it is at a dead end. */
export async function lockUndecidedOperation(tx: Tx, ledgerRef: string): Promise<Operation | undefined> {
  const row = await tx.maybe<OperationRow>(sql`
    select ${COLUMNS} from operations
    where (state = 'PLANNED' and wait_reason = any(${[...DEAD_ENDS]}::text[]) or state = 'BLOCKED') and ledger_ref = ${ledgerRef}
    for update`);
  return row && toOperation(row);
}

/** Gives the operation another name on the chain: events of the old one are not its own. */
export async function renameOperation(
  tx: Tx,
  { orgId, ledgerRef }: OperationKey,
  operationId: string,
): Promise<void> {
  await tx.run(sql`
    update operations set operation_id = ${operationId}, wait_reason = null, retry_at = now(), updated_at = now()
    where org_id = ${orgId} and ledger_ref = ${ledgerRef}`);
}

/** Passes over a blocked operation, so that later ones of its wallets can go. */
export async function skipBlockedOperation(tx: Tx, { orgId, ledgerRef }: OperationKey): Promise<void> {
  await tx.run(sql`
    update operations set state = 'PASSED', wait_reason = null, updated_at = now()
    where org_id = ${orgId} and ledger_ref = ${ledgerRef} and state = 'BLOCKED'`);
}

/** Ends the clock of a hold: it fails as soon as that is proven safe. */
export async function giveUpHold(tx: Tx, { orgId, ledgerRef }: OperationKey): Promise<void> {
  await tx.run(sql`
    update operations set wait_reason = ${GIVEN_UP}, expires_at = now(), updated_at = now()
    where org_id = ${orgId} and ledger_ref = ${ledgerRef}`);
}

/**
 * Whether a transaction has settled an operation here: its transfers then prove nothing about
 * another.
 */
export async function hasSettled(db: Queryable, txHash: string): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from operations where state = 'CONFIRMED' and tx_hash = ${txHash}) as found`);
  return found;
}
