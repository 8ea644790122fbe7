import { type NewEvent } from "@wonrail/kit/outbox";
import {
  KeyIssued,
  KeyRefreshed,
  KeyRevoked,
  OrganisationChanged,
} from "@wonrail/proto/auth/events/v1/events";
import { usableUntil, type ApiKey } from "./domain/keys";
import { type Organisation } from "./domain/organisations";
import { organisationMessage } from "./messages";

const TOPIC = "wonrail.auth.v1";

/** Every event of this service goes to this topic. */
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

export function organisationChanged(organisation: Organisation): NewEvent {
  const payload = OrganisationChanged.encode({ organisation: organisationMessage(organisation) }).finish();
  const { orgId, version } = organisation;
  return { topic: TOPIC, type: "organisation_changed", aggregateId: orgId, version, orgId, payload };
}

export function keyIssued(key: ApiKey): NewEvent {
  const { orgId, keyId, prefix, issuedAt, expiresAt, predecessorId } = key;
  const message = {
    orgId,
    keyId,
    keyPrefix: prefix,
    issuedAt,
    expiresAt,
    predecessorKeyId: predecessorId ?? undefined,
    name: key.name,
    scopes: [...key.scopes],
    allowedAddresses: [...key.allowedAddresses],
    apiVersion: key.apiVersion,
  };
  return keyEvent(key, "key_issued", KeyIssued.encode(message).finish());
}

/** `key` after the refresh. */
export function keyRefreshed(key: ApiKey, successor: ApiKey): NewEvent {
  const message = {
    orgId: key.orgId,
    keyId: key.keyId,
    keyPrefix: key.prefix,
    successorKeyId: successor.keyId,
    refreshedAt: successor.issuedAt,
    overlapEndsAt: usableUntil(key),
  };
  return keyEvent(key, "key_refreshed", KeyRefreshed.encode(message).finish());
}

export function keyRevoked(key: ApiKey, revokedAt: Date): NewEvent {
  const message = { orgId: key.orgId, keyId: key.keyId, keyPrefix: key.prefix, revokedAt };
  return keyEvent(key, "key_revoked", KeyRevoked.encode(message).finish());
}

function keyEvent(key: ApiKey, type: string, payload: Uint8Array): NewEvent {
  return { topic: TOPIC, type, aggregateId: key.keyId, version: key.version, orgId: key.orgId, payload };
}
