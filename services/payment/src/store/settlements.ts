import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Settlement } from "../domain/records";

export interface SettlementChange extends Settlement {
  status: "SUBMITTED" | "CONFIRMED" | "FAILED";
  orgId: string;
  ledgerRef: string;
  /** The outside address, of a deposit. */
  counterparty?: string;
  failure?: { reason: string; proofBlockNumber: bigint; proofBlockHash: string };
}

export interface StoredSettlement extends Settlement {
  counterparty: string | null;
}

/** False when it was already final: events may come again, and in any order. */
export async function saveSettlement(tx: Tx, change: SettlementChange): Promise<boolean> {
  const saved = await tx.run(sql`
    insert into settlements (org_id, ledger_ref, status, network, tx_hash, block_number, counterparty,
      failure_reason, proof_block_number, proof_block_hash)
    values (${change.orgId}, ${change.ledgerRef}, ${change.status}, ${change.network}, ${change.txHash}, ${change.blockNumber},
      ${change.counterparty ?? null}, ${change.failure?.reason ?? null}, ${change.failure?.proofBlockNumber ?? null},
      ${change.failure?.proofBlockHash ?? null})
    on conflict (org_id, ledger_ref) do update set
      status = excluded.status, tx_hash = excluded.tx_hash, block_number = excluded.block_number,
      failure_reason = excluded.failure_reason, proof_block_number = excluded.proof_block_number,
      proof_block_hash = excluded.proof_block_hash, updated_at = now()
    where settlements.status = 'SUBMITTED'`);
  return saved === 1;
}

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
