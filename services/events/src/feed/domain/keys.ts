import { apiKeyJson, requirePresent } from "@wonrail/kit/records";
import { type KeyIssued } from "@wonrail/proto/auth/events/v1/events";
import { type Change, type ObjectData } from "./change";
import { type EventType } from "@wonrail/kit/contract/eventTypes";

export interface ExpiringKey {
  orgId: string;
  keyId: string;
  /** The life of the key, moved by the advances of a test clock. */
  issuedAt: Date;
  expiresAt: Date;
  data: ObjectData;
}

/** Days before the expiry at which the organisation is warned. The shortest is first: a key gets the nearest warning only. */
export const WARNING_DAYS = [3, 14] as const;

/** The key as GET /api/wallet-auth/keys/{keyId} shows it, without its last use. */
export function issuedKey(orgId: string, issued: KeyIssued): ExpiringKey {
  const { keyId, issuedAt, expiresAt } = issued;
  const data = apiKeyJson({ ...issued, prefix: issued.keyPrefix, status: "CURRENT" });
  return { orgId, keyId, issuedAt: requirePresent(issuedAt), expiresAt: requirePresent(expiresAt), data };
}

export function keyChange(
  source: Pick<Change, "sourceId" | "occurredAt">,
  { orgId, keyId, data }: ExpiringKey,
  type: EventType,
): Change {
  return {
    ...source,
    ...{ orgId, objectId: keyId, types: [type] },
    apply: () => ({ data, failureReason: null }),
  };
}
