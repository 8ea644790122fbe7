import { sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId, type Id } from "@wonrail/kit/ids";
import { type AuditEntry, type AuditHead } from "../domain/auditEntries";

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

/** Every organisation with the end of its chain, which is null only when someone has removed it. */
export async function listAuditHeads(
  db: Queryable,
  afterOrgId: Id<"org">,
  limit: number,
): Promise<{ orgId: Id<"org">; code: string; head: AuditHead | null }[]> {
  const rows = await db.query<{
    org_id: string;
    code: string;
    sequence: bigint | null;
    hash: Buffer | null;
  }>(sql`
    select o.org_id, o.code, h.sequence, h.hash
    from organisations o left join audit_heads h using (org_id)
    where o.org_id > ${idToUuid(afterOrgId)} order by o.org_id limit ${limit}`);
  return rows.map(({ org_id, code, sequence, hash }) => ({
    orgId: uuidToId("org", org_id),
    code,
    head: sequence === null || hash === null ? null : { sequence, hash },
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
