import { type Queryable, sql } from "@wonrail/kit/db";

/** The content of the newest event about an entry, hold or deposit. */
export interface StoredSettlement {
  ledgerRef: string;
  version: bigint;
  changedAt: Date;
  status: "SUBMITTED" | "CONFIRMED" | "FAILED";
  txHash: string | null;
  blockNumber: bigint | null;
  /** The outside address of a deposit. */
  fromAddress: string | null;
  failure: { reason: string; blockNumber: bigint; blockHash: string } | null;
}

type Row = Omit<StoredSettlement, "failure"> & {
  reason: string | null;
  proofNumber: bigint | null;
  proofHash: string | null;
};

/** Finds an organisation's operations that had an event, and its credited deposits, in id order. */
export async function findSettlements(
  db: Queryable,
  orgId: string,
  afterRef: string,
  limit: number,
): Promise<StoredSettlement[]> {
  const rows = await db.query<Row>(sql`
    (select ledger_ref as "ledgerRef",
        (case when state in ('CONFIRMED', 'FAILED') then attempts + 1 else attempts end)::bigint as version,
        changed_at as "changedAt",
        case when state in ('CONFIRMED', 'FAILED') then state else 'SUBMITTED' end as status,
        case when state <> 'FAILED' then tx_hash end as "txHash", block_number as "blockNumber",
        null as "fromAddress",
        failure_reason as reason, proof_block_number as "proofNumber", proof_block_hash as "proofHash"
      from operations where org_id = ${orgId} and ledger_ref > ${afterRef} and changed_at is not null
      order by ledger_ref limit ${limit})
    union all
    (select ledger_ref, 1, credited_at, 'CONFIRMED', tx_hash, block_number, from_address, null, null, null
      from deposits where org_id = ${orgId} and ledger_ref > ${afterRef} and state = 'CREDITED'
      order by ledger_ref limit ${limit})
    order by 1 limit ${limit}`);
  return rows.map(({ reason, proofNumber, proofHash, ...row }) => ({
    ...row,
    failure: reason === null ? null : { reason, blockNumber: proofNumber!, blockHash: proofHash! },
  }));
}
