import { ApiPromise, type CallOptions } from "../core/call.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { requireFields } from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import type { Transport } from "../internal/transport.ts";
import type { ApiKey } from "./keys.ts";

/** Request of `refreshKey`. */
export interface RefreshKeyRequest {
  /** The current or expired key. Default: the client's own key. */
  apiKey?: string;
  /** The organisation's secret key. It does not change. */
  secretKey: string;
}

/** Answer of `refreshKey`. */
export interface RefreshedKey {
  /** The new key. It is shown once: store it. */
  newApiKey: string;
  /** End of the new key's validity. */
  expiresAt: string;
}

/** Answer of `revokeKey`. */
export interface RevokedKey {
  /** Always true. */
  revoked: true;
  /** Time of the revocation. */
  revokedAt: string;
}

/** Organisation, key, plan and usage of the API key. */
export interface Session {
  /** The organisation of the key. */
  organisation: {
    /** Id of the organisation. */
    orgId: string;
    /** Code of the organisation, for `orgCode`. */
    orgCode: string;
    /** Name of the organisation. */
    name: string;
    /** A SUSPENDED organisation cannot move money. */
    status: "ACTIVE" | "SUSPENDED";
    /** Incentive on payments in hundredths of a percent: 250 is 2.5 %. */
    incentiveRateBps: number;
    /** Limit in KRW per wallet and day in Asia/Seoul. */
    dailyTransferLimit: number;
  };
  /** The API key of the request. */
  key: ApiKey;
  /** Plan of the organisation. */
  plan: "FREE" | "STANDARD" | "ENTERPRISE";
  /** Subscription of the organisation. */
  subscription: {
    /** True between start and end. */
    active: boolean;
    /** Start of the subscription. */
    startsAt: string;
    /** End of the subscription. */
    endsAt: string;
  };
  /** Rate limit of the organisation. */
  rateLimit: {
    /** Requests per second in the long run. */
    perSecond: number;
    /** Requests at once. */
    burst: number;
  };
  /** Usage of the plan's quotas. */
  usage: QuotaUsage[];
}

/** Usage of a quota. */
export interface QuotaUsage {
  /** Name of the quota. */
  quota: "WALLETS" | "MONEY_OPERATIONS" | "RECORDED_TRANSACTIONS";
  /** Units of the plan. */
  limit: number;
  /** Units that are used. */
  used: number;
  /** Units that gateways hold for requests and have not used yet. */
  reserved: number;
  /** Time of the next reset, or null for a quota that never resets. */
  resetsAt: string | null;
}

const REFRESH_NAMES: KnownNames<RefreshKeyRequest> = {
  apiKey: "to refresh the client's own key",
  secretKey: true,
};

/** The organisation's API key and session. */
export class AuthApi extends ApiResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Returns a new key. If the client's own key was refreshed, the client uses the new key from now
   * on. A repetition returns the same new key, so a lost answer does no harm.
   */
  refreshKey(request: RefreshKeyRequest, options?: CallOptions): ApiPromise<RefreshedKey> {
    const refreshed = async () => {
      const { secretKey, apiKey = this.#transport.currentApiKey() } = requireFields(
        "(body)",
        request,
        REFRESH_NAMES,
      );
      const response = await this.#transport.send<RefreshedKey>({
        method: "POST",
        path: "/api/wallet-auth/refresh",
        body: { apiKey, secretKey },
        repeat: "safe",
        isOpen: true,
        options,
      });
      this.#transport.replaceApiKey(apiKey, response.data.newApiKey);
      return response;
    };
    return new ApiPromise(refreshed());
  }

  /** Revokes the client's own key permanently. */
  revokeKey(options?: CallOptions): ApiPromise<RevokedKey> {
    const path = "/api/wallet-auth/api-key";
    // Sent once: after a success, a repetition would be refused with WAUTH_001.
    return this.call(() => ({ method: "DELETE", path, repeat: "once", options }));
  }

  /** Reads organisation, key, plan, limits and usage. */
  getSession(options?: CallOptions): ApiPromise<Session> {
    return this.read(() => "/api/wallet-auth/session", options);
  }
}
