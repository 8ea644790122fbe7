import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { pathSegment, requireFields } from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import { PAGE_NAMES } from "./shared.ts";

/** A right of an API key. */
export type Scope =
  | "wallets:read"
  | "wallets:write"
  | "transfers:read"
  | "transfers:write"
  | "charges:read"
  | "charges:write"
  | "payments:read"
  | "payments:write"
  | "transactions:read"
  | "transactions:write"
  | "events:read"
  | "webhooks:read"
  | "webhooks:write"
  | "x402:read"
  | "x402:write"
  | "keys:manage"
  | "sandbox:write";

/** CURRENT works. OVERLAP was refreshed and works for a while. EXPIRED can only be refreshed. */
export type ApiKeyStatus = "CURRENT" | "OVERLAP" | "EXPIRED" | "REVOKED";

/** An API key, without its secret part. */
export interface ApiKey {
  /** Id of the key. */
  keyId: string;
  /** Public part that names the key in lists and logs. */
  prefix: string;
  /** Purpose of the key, in your words. */
  name: string;
  /** Rights of the key. */
  scopes: Scope[];
  /** Addresses and CIDR ranges from which the key may be used. Empty: any address. */
  allowedAddresses: string[];
  /** Version of the API for requests that name none. */
  apiVersion: string;
  /** State of the key. */
  status: ApiKeyStatus;
  /** Id of the key that a refresh replaced by this one, or null. */
  predecessorId: string | null;
  /** Start of the key's validity. */
  issuedAt: string;
  /** End of the key's validity. */
  expiresAt: string;
  /** End of the key's overlap after a refresh, or null. */
  overlapEndsAt: string | null;
  /** Time of the revocation, or null. */
  revokedAt: string | null;
}

/** An API key with the time of its last use. */
export interface UsedApiKey extends ApiKey {
  /** Time of the last use, some seconds late, or null. */
  lastUsedAt: string | null;
}

/** A new API key. */
export interface CreatedApiKey extends ApiKey {
  /** The key itself. Store it. Null when the service answers a repetition: it does not store the key. */
  apiKey: string | null;
}

/** Request of `keys.create`. */
export interface CreateKeyRequest {
  /** Purpose of the key, 1 to 100 characters. */
  name: string;
  /** Rights of the key. Your own key must have them. */
  scopes: Scope[];
  /** At most 50 addresses and CIDR ranges. Without it those of your own key, so undefined is refused. */
  allowedAddresses?: string[];
  /** End of the validity. Without it the longest lifetime, so undefined is refused. */
  expiresAt?: string;
  /** Version of the API for requests that name none. Default: the newest. */
  apiVersion?: string | undefined;
}

/** Request of `keys.revoke`. */
export interface RevokeKeyRequest {
  /** Also revokes the keys that were refreshed from it. Default: false. */
  withSuccessors?: boolean | undefined;
}

/** Answer of `keys.revoke`. */
export interface RevokedApiKey {
  /** Id of the key. */
  keyId: string;
  /** Always true. */
  revoked: true;
  /** Time of the key's first revocation. */
  revokedAt: string;
  /** The key, then its successors if they were wanted. */
  revokedKeyIds: string[];
}

/** Answer of `keys.rotateSecret`. */
export interface RotatedSecretKey {
  /** The new secret key. Store it. Null when the service answers a repetition: it does not store the key. */
  secretKey: string | null;
  /** Time at which the old secret key stopped working. */
  rotatedAt: string;
}

const PATH = "/api/wallet-auth/keys";
const CREATE_NAMES: KnownNames<CreateKeyRequest> = {
  name: true,
  scopes: true,
  allowedAddresses: "for the addresses of your own key",
  expiresAt: "for the longest lifetime",
  apiVersion: true,
};
const REVOKE_NAMES: KnownNames<RevokeKeyRequest> = { withSuccessors: true };

/** API keys of the organisation. The client's own key needs the scope `keys:manage`. */
export class KeysApi extends ApiResource {
  /** Issues a key with scopes of the client's own key. Store its `apiKey`. */
  create(request: CreateKeyRequest, options?: IdempotentCallOptions): ApiPromise<CreatedApiKey> {
    return this.keyedPost(
      () => ({ path: PATH, body: requireFields("(body)", request, CREATE_NAMES) }),
      options,
    );
  }

  /** Reads a key. */
  get(keyId: string, options?: CallOptions): ApiPromise<UsedApiKey> {
    return this.read(() => pathOf(keyId), options);
  }

  /** Lists keys, newest first. */
  list(query: PageQuery = {}, options?: CallOptions): PagePromise<UsedApiKey> {
    return this.pages(() => ({ path: PATH, query: requireFields("(query)", query, PAGE_NAMES) }), options);
  }

  /** Replaces the organisation's secret key. The old one refreshes no key from now on. All API keys stay valid. */
  rotateSecret(options?: IdempotentCallOptions): ApiPromise<RotatedSecretKey> {
    return this.keyedPost(() => ({ path: "/api/wallet-auth/rotate-secret" }), options);
  }

  /** Revokes a key permanently. A repetition changes nothing. */
  revoke(keyId: string, request: RevokeKeyRequest = {}, options?: CallOptions): ApiPromise<RevokedApiKey> {
    return this.call(() => {
      const { withSuccessors } = requireFields("(query)", request, REVOKE_NAMES);
      const query = withSuccessors === undefined ? {} : { withSuccessors: String(withSuccessors) };
      return { method: "DELETE", path: pathOf(keyId), query, repeat: "safe", options };
    });
  }
}

function pathOf(keyId: string): string {
  return `${PATH}/${pathSegment("keyId", keyId, "WAUTH_007")}`;
}
