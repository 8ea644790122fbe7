import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Settlement } from "@wonrail/kit/records";

/** The state of an operation in one event of chain-relayer. */
export interface SettlementChange {
  orgId: string;
  ledgerRef: string;
  version: bigint;
  changedAt: Date;
  status: "SUBMITTED" | "CONFIRMED" | "FAILED";
  network: string;
  txHash: string | null;
  blockNumber: bigint | null;
  /** The outside address of a deposit. */
  counterparty?: string;
  failure?: { reason: string; proofBlockNumber: bigint; proofBlockHash: string };
}

export interface StoredSettlement extends Settlement {
  counterparty: string | null;
}

/**
 * Keeps the newest version of each row, final or not, and returns the changes that were kept. `changes` holds one
 * change per row.
 */
export async function saveSettlements(tx: Tx, changes: SettlementChange[]): Promise<SettlementChange[]> {
  const rows = await tx.query<{ org_id: string; ledger_ref: string }>(
    named(
      "settlements_save",
      sql`
    insert into settlements (org_id, ledger_ref, version, changed_at, status, network, tx_hash, block_number, counterparty,
      failure_reason, proof_block_number, proof_block_hash)
    select * from unnest(
      ${changes.map((change) => change.orgId)}::text[],
      ${changes.map((change) => change.ledgerRef)}::text[],
      ${changes.map((change) => change.version)}::bigint[],
      ${changes.map((change) => change.changedAt)}::timestamptz[],
      ${changes.map((change) => change.status)}::text[],
      ${changes.map((change) => change.network)}::text[],
      ${changes.map((change) => change.txHash)}::text[],
      ${changes.map((change) => change.blockNumber)}::bigint[],
      ${changes.map((change) => change.counterparty ?? null)}::text[],
      ${changes.map((change) => change.failure?.reason ?? null)}::text[],
      ${changes.map((change) => change.failure?.proofBlockNumber ?? null)}::bigint[],
      ${changes.map((change) => change.failure?.proofBlockHash ?? null)}::text[])
      as change (org_id, ledger_ref)
    order by org_id, ledger_ref
    on conflict (org_id, ledger_ref) do update set
      version = excluded.version, changed_at = excluded.changed_at, status = excluded.status,
      network = excluded.network, tx_hash = excluded.tx_hash, block_number = excluded.block_number,
      counterparty = excluded.counterparty, failure_reason = excluded.failure_reason,
      proof_block_number = excluded.proof_block_number, proof_block_hash = excluded.proof_block_hash
    where (settlements.version, settlements.changed_at) < (excluded.version, excluded.changed_at)
    returning org_id, ledger_ref`,
    ),
  );
  const saved = new Set(rows.map((row) => `${row.org_id}|${row.ledger_ref}`));
  return changes.filter(({ orgId, ledgerRef }) => saved.has(`${orgId}|${ledgerRef}`));
}

/** Settlements by ledger reference. An id without a row is PENDING. */
export async function findSettlements(
  db: Queryable,
  orgId: string,
  ledgerRefs: string[],
): Promise<Map<string, StoredSettlement>> {
  const rows = await db.query<{
    ledger_ref: string;
    status: Settlement["status"];
    network: string;
    tx_hash: string | null;
    block_number: bigint | null;
    failure_reason: string | null;
    counterparty: string | null;
  }>(sql`
    select ledger_ref, status, network, tx_hash, block_number, failure_reason, counterparty from settlements
    where org_id = ${orgId} and ledger_ref = any(${ledgerRefs}::text[])`);
  return new Map(
    rows.map((row) => [
      row.ledger_ref,
      {
        status: row.status,
        network: row.network,
        txHash: row.tx_hash,
        blockNumber: row.block_number,
        failureReason: row.failure_reason,
        counterparty: row.counterparty,
      },
    ]),
  );
}
