import { ApiPromise, type CallOptions } from "../core/call.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { asObject } from "../internal/checks.ts";
import type { Transport } from "../internal/transport.ts";

export interface RefreshKeyRequest {
  /** The current or expired key; the client's own unless given. */
  apiKey?: string | undefined;
  /** It stays the same. */
  secretKey: string;
}

export interface RefreshedKey {
  /** Shown once: store it. */
  newApiKey: string;
  expiresAt: string;
}

export interface RevokedKey {
  revoked: true;
  revokedAt: string;
}

export interface Session {
  organisation: {
    orgId: string;
    orgCode: string;
    name: string;
    status: "ACTIVE" | "SUSPENDED";
    /** 250 is 2.5 %. */
    incentiveRateBps: number;
    /** In KRW, for each wallet and day of Asia/Seoul. */
    dailyTransferLimit: number;
  };
  key: {
    keyId: string;
    /** What names the key in lists and logs. */
    prefix: string;
    issuedAt: string;
    expiresAt: string;
    /** When it stops working because it was refreshed. */
    overlapEndsAt: string | null;
  };
  plan: "FREE" | "STANDARD" | "ENTERPRISE";
  subscription: { active: boolean; startsAt: string; endsAt: string };
  rateLimit: { perSecond: number; burst: number };
  usage: QuotaUsage[];
}

export interface QuotaUsage {
  quota: "WALLETS" | "MONEY_OPERATIONS" | "RECORDED_TRANSACTIONS";
  limit: number;
  used: number;
  /** Lent to requests that are coming in, not yet used. */
  reserved: number;
  /** Null: never. */
  resetsAt: string | null;
}

/** The organisation's API key. */
export class AuthApi extends ApiResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Gets a new key. When it was the client's own that was refreshed, the client goes on with the new one. The same call again gives the same
   * new key, so that no answer that is lost costs anything.
   */
  refreshKey(request: RefreshKeyRequest, options?: CallOptions): ApiPromise<RefreshedKey> {
    const refreshed = async () => {
      const { secretKey, apiKey = this.#transport.currentApiKey() } = asObject("(body)", request);
      const response = await this.#transport.send<RefreshedKey>({
        method: "POST",
        path: "/api/wallet-auth/refresh",
        body: { apiKey, secretKey },
        repeat: "safe",
        isOpen: true,
        options,
      });
      this.#transport.useApiKey(response.data.newApiKey, apiKey);
      return response;
    };
    return new ApiPromise(refreshed());
  }

  /** Revokes the client's own key, for good. */
  revokeKey(options?: CallOptions): ApiPromise<RevokedKey> {
    const path = "/api/wallet-auth/api-key";
    // Once: a repetition would be told that the key is not valid, as if it had been wrong from the start.
    return this.call(() => ({ method: "DELETE", path, repeat: "once", options }));
  }

  /** What the key is and may do. */
  getSession(options?: CallOptions): ApiPromise<Session> {
    return this.read(() => "/api/wallet-auth/session", options);
  }
}
