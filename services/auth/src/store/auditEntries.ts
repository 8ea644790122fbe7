import { sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId, type Id } from "@wonrail/kit/contract/ids";
import { EMPTY_CHAIN, type AuditEntry, type AuditHead } from "../domain/auditEntries";

const columns = sql`
  org_id, sequence, occurred_at, actor, action, subject, details, request_id, previous_hash, hash`;

export async function insertAuditEntry(tx: Tx, entry: AuditEntry): Promise<void> {
  await tx.run(sql`
    insert into audit_entries (${columns})
    values (${idToUuid(entry.orgId)}, ${entry.sequence}, ${entry.occurredAt}, ${entry.actor}, ${entry.action},
      ${entry.subject}, ${entry.details}, ${entry.requestId}, ${entry.previousHash}, ${entry.hash})`);
}

/** Keyset pages over all chains: an organisation's entries stay together and in order. */
export async function pageOfAuditEntries(
  db: Queryable,
  after: { orgId: Id<"org">; sequence: bigint },
  limit: number,
): Promise<AuditEntry[]> {
  const rows = await db.query<AuditEntryRow>(sql`
    select ${columns} from audit_entries
    where (org_id, sequence) > (${idToUuid(after.orgId)}, ${after.sequence})
    order by org_id, sequence limit ${limit}`);
  return rows.map(fromRow);
}

/** An organisation's entries, oldest first. */
export async function auditEntriesAfter(
  db: Queryable,
  orgId: Id<"org">,
  sequence: bigint,
  limit: number,
): Promise<AuditEntry[]> {
  const rows = await db.query<AuditEntryRow>(sql`
    select ${columns} from audit_entries where org_id = ${idToUuid(orgId)} and sequence > ${sequence}
    order by sequence limit ${limit}`);
  return rows.map(fromRow);
}

/** Newest first, before a sequence number. */
export async function listAuditEntries(
  db: Queryable,
  orgId: Id<"org">,
  before: bigint,
  limit: number,
): Promise<AuditEntry[]> {
  const rows = await db.query<AuditEntryRow>(sql`
    select ${columns} from audit_entries where org_id = ${idToUuid(orgId)} and sequence < ${before}
    order by sequence desc limit ${limit}`);
  return rows.map(fromRow);
}

/** The caller holds the organisation's lock. */
export async function findAuditHead(tx: Tx, orgId: Id<"org">): Promise<AuditHead | undefined> {
  return tx.maybe<AuditHead>(sql`select sequence, hash from audit_heads where org_id = ${idToUuid(orgId)}`);
}

export async function putAuditHead(tx: Tx, orgId: Id<"org">, head: AuditHead): Promise<void> {
  await tx.run(sql`
    insert into audit_heads (org_id, sequence, hash) values (${idToUuid(orgId)}, ${head.sequence}, ${head.hash})
    on conflict (org_id) do update set sequence = excluded.sequence, hash = excluded.hash`);
}

/**
 * The first and the last entry of an organisation's chain. They connect unless the chain was
 * changed.
 */
export interface AuditChain {
  orgId: Id<"org">;
  /** Null only when the head was removed. */
  head: AuditHead | null;
  /** The last stored entry. */
  last: AuditHead;
}

export async function listAuditChains(
  db: Queryable,
  afterOrgId: Id<"org">,
  limit: number,
): Promise<AuditChain[]> {
  const rows = await db.query<{
    org_id: string;
    sequence: bigint | null;
    hash: Buffer | null;
    last_sequence: bigint | null;
    last_hash: Buffer | null;
  }>(sql`
    select o.org_id, h.sequence, h.hash, e.sequence as last_sequence, e.hash as last_hash
    from organisations o
      left join audit_heads h using (org_id)
      left join lateral (
        select sequence, hash from audit_entries where org_id = o.org_id order by sequence desc limit 1
      ) e on true
    where o.org_id > ${idToUuid(afterOrgId)} order by o.org_id limit ${limit}`);
  return rows.map(({ org_id, sequence, hash, last_sequence, last_hash }) => ({
    orgId: uuidToId("org", org_id),
    head: sequence === null || hash === null ? null : { sequence, hash },
    last:
      last_sequence === null || last_hash === null
        ? EMPTY_CHAIN
        : { sequence: last_sequence, hash: last_hash },
  }));
}

interface AuditEntryRow {
  org_id: string;
  sequence: bigint;
  occurred_at: Date;
  actor: string;
  action: string;
  subject: string;
  details: string;
  request_id: string;
  previous_hash: Buffer;
  hash: Buffer;
}

function fromRow(row: AuditEntryRow): AuditEntry {
  return {
    orgId: uuidToId("org", row.org_id),
    sequence: row.sequence,
    occurredAt: row.occurred_at,
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    details: row.details,
    requestId: row.request_id,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}
