import { createHash } from "node:crypto";
import { type Id } from "@wonrail/kit/contract/ids";

/** A recorded action: actor, action and subject. `details` is JSON text. */
export interface AuditFacts {
  readonly occurredAt: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly details: string;
  readonly requestId: string;
}

export interface AuditEntry extends AuditFacts {
  readonly orgId: Id<"org">;
  readonly sequence: bigint;
  readonly previousHash: Buffer;
  readonly hash: Buffer;
}

/** The last entry of an organisation's chain. */
export interface AuditHead {
  readonly sequence: bigint;
  readonly hash: Buffer;
}

export const EMPTY_CHAIN: AuditHead = { sequence: 0n, hash: Buffer.alloc(32) };

export function nextAuditEntry(orgId: Id<"org">, head: AuditHead, facts: AuditFacts): AuditEntry {
  const entry = { ...facts, orgId, sequence: head.sequence + 1n, previousHash: head.hash };
  return { ...entry, hash: hashOf(entry) };
}

/** Returns the first problem of an entry that should follow `head`, or null. */
export function brokenLink(head: AuditHead, entry: AuditEntry): string | null {
  if (entry.sequence !== head.sequence + 1n) return `entry ${head.sequence + 1n} is missing`;
  if (!entry.previousHash.equals(head.hash)) return "it does not follow the entry before it";
  if (!entry.hash.equals(hashOf(entry))) return "its contents were changed";
  return null;
}

export function sameEnd(one: AuditHead, other: AuditHead): boolean {
  return one.sequence === other.sequence && one.hash.equals(other.hash);
}

/** Each part is preceded by its length, so two different entries never give the same bytes. */
function hashOf(entry: Omit<AuditEntry, "hash">): Buffer {
  const parts = [
    entry.orgId,
    entry.sequence.toString(),
    entry.occurredAt.toISOString(),
    entry.actor,
    entry.action,
    entry.subject,
    entry.details,
    entry.requestId,
  ];
  const hash = createHash("sha256").update(entry.previousHash);
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest();
}
