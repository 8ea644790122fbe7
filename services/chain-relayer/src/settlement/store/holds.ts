import { type Queryable, type Sql, sql } from "@wonrail/kit/db";
import { HOLD_FAILURE_REASONS } from "../domain/holdFailureReasons";
import { COLUMNS, type Operation, type OperationRow, toOperation } from "./operations";

// The time of holds: money on its way to an outside address.

/** The last refusal was for a cause of the operation itself. */
export const HAS_HOLD_FAILURE_REASON: Sql = sql`coalesce(wait_reason = any(${[...HOLD_FAILURE_REASONS]}::text[]), false)`;

/**
 * Starts the clock of holds that are refused for their own cause, once no earlier operation of
 * their wallet waits.
 */
export async function startHoldClocks(db: Queryable, lifeMs: number): Promise<void> {
  await db.run(sql`
    update operations hold set expires_at = now() + make_interval(secs => ${lifeMs / 1000})
    where state = 'PLANNED' and ${HAS_HOLD_FAILURE_REASON} and kind = 'INTENT_KIND_PLACE_HOLD' and expires_at is null
      and not exists (
        select from operations earlier
        where earlier.org_id = hold.org_id and earlier.turn < hold.turn and earlier.state in ('PLANNED', 'IN_FLIGHT')
          and (earlier.from_wallets && hold.from_wallets
            or earlier.steps @> jsonb_build_array(jsonb_build_object('toWalletId', hold.from_wallets[1]))))`);
}

/** The place of a hold in the order of the ends. */
export interface EndPlace {
  expiresAt: Date;
  ledgerRef: string;
}

/** Holds whose clock has run out and that are still refused for their own cause. */
export async function listExpiredHolds(
  db: Queryable,
  after: EndPlace | null,
  limit: number,
): Promise<Operation[]> {
  const { expiresAt, ledgerRef } = after ?? { expiresAt: new Date(0), ledgerRef: "" };
  const rows = await db.query<OperationRow>(sql`
    select ${COLUMNS} from operations
    where state = 'PLANNED' and expires_at < now() and ${HAS_HOLD_FAILURE_REASON}
      and (expires_at, ledger_ref) > (${expiresAt}::timestamptz, ${ledgerRef})
    order by expires_at, ledger_ref limit ${limit}`);
  return rows.map(toOperation);
}
