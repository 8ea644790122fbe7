import { type Change } from "./change";
import { type EventType } from "@wonrail/kit/contract/eventTypes";

export interface ExpiringKey {
  orgId: string;
  keyId: string;
  prefix: string;
  issuedAt: Date;
  expiresAt: Date;
}

/** Days before the expiry at which the organisation is warned. The shortest is first: a key gets the nearest warning only. */
export const WARNING_DAYS = [3, 14] as const;

/** The data is the `key` of GET /api/wallet-auth/session. */
export function keyChange(
  source: Pick<Change, "sourceId" | "occurredAt">,
  { orgId, keyId, prefix, issuedAt, expiresAt }: ExpiringKey,
  type: EventType,
): Change {
  const times = { issuedAt: issuedAt.toISOString(), expiresAt: expiresAt.toISOString() };
  const data = { keyId, prefix, ...times, overlapEndsAt: null };
  return {
    ...source,
    ...{ orgId, objectId: keyId, types: [type] },
    apply: () => ({ data, failureReason: null }),
  };
}
