import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type SettlementNews } from "../domain/change";

interface LedgerRef {
  orgId: string;
  ledgerRef?: string;
}

type Content = Omit<SettlementNews, "orgId" | "ledgerRef" | "sourceId" | "occurredAt">;

/** Settlements that wait for the ledger entries of these changes, by organisation and reference, oldest first. */
export async function findEarlySettlements(
  tx: Tx,
  refs: readonly LedgerRef[],
): Promise<Map<string, SettlementNews[]>> {
  const known = refs.filter(({ ledgerRef }) => ledgerRef !== undefined);
  if (known.length === 0) return new Map();
  const rows = await tx.query<{
    org_id: string;
    ledger_ref: string;
    event_id: string;
    settlement: string;
    occurred_at: Date;
  }>(sql`
    select early.org_id, early.ledger_ref, event_id, settlement::text as settlement, occurred_at
    from unnest(${known.map(({ orgId }) => orgId)}::text[], ${known.map(({ ledgerRef }) => ledgerRef!)}::text[])
      as wanted (org_id, ledger_ref)
    join early_settlements early on early.org_id = wanted.org_id and early.ledger_ref = wanted.ledger_ref
    order by early.occurred_at, early.event_id`);
  const found = new Map<string, SettlementNews[]>();
  for (const row of rows) {
    const { org_id: orgId, ledger_ref: ledgerRef, occurred_at: occurredAt } = row;
    const content = JSON.parse(row.settlement) as Content;
    const news = { ...content, orgId, ledgerRef, occurredAt, sourceId: uuidToId("evt", row.event_id) };
    const key = refKeyOf(news);
    found.set(key, [...(found.get(key) ?? []), news]);
  }
  return found;
}

export function refKeyOf({ orgId, ledgerRef }: LedgerRef): string {
  return `${orgId} ${ledgerRef ?? ""}`;
}

export function saveEarlySettlements(tx: Tx, all: SettlementNews[]): void {
  if (all.length === 0) return;
  tx.push(sql`
    insert into early_settlements (org_id, ledger_ref, event_id, settlement, occurred_at)
    select org_id, ledger_ref, event_id, settlement::json, occurred_at from unnest(
      ${all.map(({ orgId }) => orgId)}::text[],
      ${all.map(({ ledgerRef }) => ledgerRef)}::text[],
      ${all.map(({ sourceId }) => idToUuid(sourceId))}::uuid[],
      ${all.map(contentOf)}::text[],
      ${all.map(({ occurredAt }) => occurredAt)}::timestamptz[])
      as added (org_id, ledger_ref, event_id, settlement, occurred_at)`);
}

function contentOf({ status, network, txHash, blockNumber, failureReason }: SettlementNews): string {
  return JSON.stringify({ status, network, txHash, blockNumber, failureReason } satisfies Content);
}

export function deleteEarlySettlements(tx: Tx, all: SettlementNews[]): void {
  if (all.length === 0) return;
  tx.push(sql`
    delete from early_settlements using unnest(
      ${all.map(({ orgId }) => orgId)}::text[],
      ${all.map(({ ledgerRef }) => ledgerRef)}::text[]) as applied (org_id, ledger_ref)
    where early_settlements.org_id = applied.org_id and early_settlements.ledger_ref = applied.ledger_ref`);
}

/** Deletes settlements whose ledger entry never came. Returns the number of deleted rows. */
export async function deleteOldEarlySettlements(
  db: Queryable,
  keepMs: number,
  limit: number,
): Promise<number> {
  return db.run(sql`
    delete from early_settlements where ctid = any(array(
      select ctid from early_settlements where stored_at < now() - ${keepMs} * interval '1 millisecond'
      limit ${limit}))`);
}
