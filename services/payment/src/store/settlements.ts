import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Settlement } from "../domain/settlement";

export interface SettlementChange extends Settlement {
  status: "SUBMITTED" | "CONFIRMED" | "FAILED";
  orgId: string;
  ledgerRef: string;
  /** The outside address, of a deposit. */
  counterparty?: string;
  failure?: { reason: string; proofBlockNumber: bigint; proofBlockHash: string };
  requestId: string;
  traceparent: string;
}

export interface StoredSettlement extends Settlement {
  counterparty: string | null;
}

/** Gives those that were not final already: events may come again, and in any order. */
export async function saveSettlements(tx: Tx, changes: SettlementChange[]): Promise<SettlementChange[]> {
  const rows = await tx.query<{ org_id: string; ledger_ref: string }>(
    named(
      "settlements_save",
      sql`
    insert into settlements (org_id, ledger_ref, status, network, tx_hash, block_number, counterparty,
      failure_reason, proof_block_number, proof_block_hash)
    select * from unnest(
      ${changes.map((change) => change.orgId)}::text[],
      ${changes.map((change) => change.ledgerRef)}::text[],
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
      status = excluded.status, tx_hash = excluded.tx_hash, block_number = excluded.block_number,
      failure_reason = excluded.failure_reason, proof_block_number = excluded.proof_block_number,
      proof_block_hash = excluded.proof_block_hash, updated_at = now()
    where settlements.status = 'SUBMITTED'
    returning org_id, ledger_ref`,
    ),
  );
  const saved = new Set(rows.map((row) => `${row.org_id}|${row.ledger_ref}`));
  return changes.filter(({ orgId, ledgerRef }) => saved.has(`${orgId}|${ledgerRef}`));
}

/**
 * What is said of these next comes when `tx` has ended, so what is read of them now is not told behind it. In one statement, so that they are taken in
 * the order in which they are written. One of which nothing has been said has no row to lock: one is written and taken away again, and whoever
 * writes its first waits for what becomes of that. What is final changes no more.
 */
export function holdSettlements(tx: Tx, of: { orgId: string; ledgerRef: string }[]): void {
  const keys = sql`unnest(${of.map((one) => one.orgId)}::text[], ${of.map((one) => one.ledgerRef)}::text[])`;
  tx.push(sql`
    insert into settlements (org_id, ledger_ref, status, network)
    select distinct org_id, ledger_ref, 'SUBMITTED', '' from ${keys} as original (org_id, ledger_ref)
    where not exists (
      select from settlements s
      where s.org_id = original.org_id and s.ledger_ref = original.ledger_ref and s.status in ('CONFIRMED', 'FAILED'))
    order by org_id, ledger_ref
    on conflict (org_id, ledger_ref) do update set status = settlements.status where false`);
  tx.push(sql`
    delete from settlements
    where network = '' and status = 'SUBMITTED' and (org_id, ledger_ref) in (select * from ${keys})`);
}

/** As far as each of these operations is on the chain; none of what nothing has been said of. */
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
    counterparty: string | null;
  }>(sql`
    select ledger_ref, status, network, tx_hash, block_number, counterparty from settlements
    where org_id = ${orgId} and ledger_ref = any(${ledgerRefs}::text[])`);
  return new Map(
    rows.map((row) => [
      row.ledger_ref,
      {
        status: row.status,
        network: row.network,
        txHash: row.tx_hash,
        blockNumber: row.block_number,
        counterparty: row.counterparty,
      },
    ]),
  );
}
