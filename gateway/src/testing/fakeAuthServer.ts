import { setTimeout as sleep } from "node:timers/promises";
import { createApiKey, type KeyMode } from "@wonrail/kit/contract/apiKey";
import { LATEST_API_VERSION } from "@wonrail/kit/contract/apiVersions";
import { DomainError } from "@wonrail/kit/contract/errors";
import { SCOPES } from "@wonrail/kit/contract/scopes";
import { toErrorDetail } from "@wonrail/kit/grpc/client";
import { implement, type ServerCall, startGrpcServer } from "@wonrail/kit/grpc/server";
import { Registry } from "@wonrail/kit/metrics";
import { testLog } from "@wonrail/kit/testing";
import {
  AuthServiceService,
  KeyAccess,
  KeyStatus,
  OrganisationStatus,
  Plan,
  Quota,
  type ResolveKeyResponse,
  type WatchChangesResponse,
} from "@wonrail/proto/auth/v1/auth";

/** A key of the fake auth, with its answer. */
export interface KnownKey {
  text: string;
  keyId: string;
  orgId: string;
  orgCode: string;
  access: KeyAccess;
  refusal?: DomainError;
  ratePerSecond: number;
  scopes: string[];
  allowedAddresses: string[];
  apiVersion: string;
}

export type FakeAuthServer = Awaited<ReturnType<typeof startFakeAuthServer>>;

const IN_A_DAY = () => new Date(Date.now() + 86_400_000);

/** A gRPC server that answers like auth from memory, with switchable failures. */
export async function startFakeAuthServer(port = 0) {
  const keys = new Map<string, KnownKey>();
  const calls: Record<string, number> = {};
  const watchers = new Set<(change: WatchChangesResponse) => void>();
  const state = { delayMs: 0, failWith: undefined as DomainError | undefined, quotaLeft: 1_000 };

  function addKey(overrides: Partial<KnownKey> = {}, mode: KeyMode = "test"): KnownKey {
    const { text, hash } = createApiKey(mode);
    const serial = String(keys.size + 1).padStart(32, "0");
    const key: KnownKey = {
      text,
      keyId: `key_${serial}`,
      orgId: `org_${serial}`,
      orgCode: `ORG${keys.size + 1}`,
      access: KeyAccess.FULL,
      ratePerSecond: 10_000,
      scopes: [...SCOPES],
      allowedAddresses: [],
      apiVersion: LATEST_API_VERSION,
      ...overrides,
    };
    keys.set(hash.toString("hex"), key);
    return key;
  }

  /** Ends the delay when the caller leaves, because the timer would keep the process alive. */
  async function called(method: string, { signal }: ServerCall): Promise<void> {
    calls[method] = (calls[method] ?? 0) + 1;
    if (state.delayMs > 0) await sleep(state.delayMs, undefined, { signal });
    if (state.failWith) throw state.failWith;
  }

  const service = implement(AuthServiceService, {
    async resolveKey({ key }, call) {
      await called("resolveKey", call);
      return resolution(keys.get(Buffer.from(key!.keyHash).toString("hex")));
    },
    async refreshKey({ key, secretKey }, call) {
      await called("refreshKey", call);
      const known = keys.get(Buffer.from(key!.keyHash).toString("hex"));
      if (!known || !secretKey.startsWith("sk_test_")) throw new DomainError("WAUTH_001");
      const next = addKey({ orgId: known.orgId, orgCode: known.orgCode });
      return { newApiKey: next.text, expiresAt: IN_A_DAY(), keyId: next.keyId, keyPrefix: "wk_test_next" };
    },
    async revokeKey({ orgId, keyId }, call) {
      await called("revokeKey", call);
      for (const [hash, known] of keys) if (known.orgId === orgId && known.keyId === keyId) keys.delete(hash);
      push({ change: { $case: "keyRevoked", value: { orgId, keyId, keyPrefix: "" } } });
      return { revokedAt: new Date(), revokedKeyIds: [keyId] };
    },
    async getSession({ orgId, keyId }, call) {
      await called("getSession", call);
      return session([...keys.values()].find((known) => known.orgId === orgId && known.keyId === keyId)!);
    },
    async leaseRate({ wanted }, call) {
      await called("leaseRate", call);
      const rule = { ratePerSecond: 10_000, rateBurst: 10_000 };
      return { granted: wanted, validForMs: 1_000, ...rule, remaining: 5_000, retryAfterMs: 0 };
    },
    async leaseQuota({ wanted }, call) {
      await called(wanted > 0 ? "leaseQuota" : "account", call);
      const granted = Math.min(wanted, state.quotaLeft);
      state.quotaLeft -= granted;
      const counts = { limit: 1_000n, used: 1_000n, leased: 0n, recallable: 0n };
      return { granted, validForMs: 10_000, ...counts, retryAfterMs: 0, resetsAt: IN_A_DAY() };
    },
    async *watchChanges(_request, { signal }) {
      yield { change: { $case: "started", value: { heartbeatMs: 1_000 } } };
      const waiting: WatchChangesResponse[] = [];
      let wake = () => {};
      const watcher = (change: WatchChangesResponse) => {
        waiting.push(change);
        wake();
      };
      watchers.add(watcher);
      try {
        while (!signal.aborted) {
          yield waiting.shift() ?? { change: { $case: "heartbeat", value: {} } };
          if (waiting.length === 0) await pause(500, signal, (stop) => (wake = stop));
        }
      } finally {
        watchers.delete(watcher);
      }
    },
  });

  function push(change: WatchChangesResponse): void {
    for (const watcher of watchers) watcher(change);
  }

  const server = await startGrpcServer({
    host: "127.0.0.1",
    port,
    services: [service],
    log: testLog(),
    registry: new Registry(),
  });
  return {
    port: server.port,
    keys,
    calls,
    state,
    addKey,
    push,
    watched: () => watchers.size > 0,
    close: () => server.drain(100),
  };
}

function resolution(known: KnownKey | undefined): ResolveKeyResponse {
  if (!known) {
    return {
      access: KeyAccess.NONE,
      refusal: toErrorDetail(new DomainError("WAUTH_001")),
      cacheableMs: 1_000,
    };
  }
  const { orgId, orgCode, keyId, ratePerSecond, access, refusal } = known;
  return {
    access,
    refusal: refusal && toErrorDetail(refusal),
    principal: {
      orgId,
      orgCode,
      keyId,
      keyPrefix: known.text.slice(0, 20),
      keyUsableUntil: IN_A_DAY(),
      subscriptionEndsAt: IN_A_DAY(),
      subscriptionActive: access === KeyAccess.FULL,
      plan: Plan.STANDARD,
      ratePerSecond,
      rateBurst: ratePerSecond,
      organisationVersion: 1n,
      scopes: known.scopes,
      allowedAddresses: known.allowedAddresses,
      apiVersion: known.apiVersion,
    },
    cacheableMs: 1_000,
  };
}

function session({ orgId, orgCode, keyId, text, access, scopes, allowedAddresses }: KnownKey) {
  const now = new Date();
  return {
    organisation: {
      orgId,
      code: orgCode,
      name: "Acme Bank",
      status: OrganisationStatus.ACTIVE,
      plan: Plan.STANDARD,
      subscriptionStartsAt: now,
      subscriptionEndsAt: IN_A_DAY(),
      incentiveRateBps: 100,
      dailyTransferLimitWon: "5000000",
      dailyChargeLimitWon: "1000000000",
      maxChargeWon: "1000000000",
      ratePerSecond: 100,
      rateBurst: 200,
      version: 1n,
      createdAt: now,
      updatedAt: now,
    },
    key: {
      ...{ keyId, prefix: text.slice(0, 20), name: "API key", scopes, allowedAddresses },
      ...{ apiVersion: LATEST_API_VERSION, status: KeyStatus.CURRENT, issuedAt: now, expiresAt: IN_A_DAY() },
    },
    subscriptionActive: access === KeyAccess.FULL,
    usage: [{ quota: Quota.WALLETS, limit: 1_000n, used: 12n, leased: 3n }],
  };
}

function pause(ms: number, signal: AbortSignal, onWake: (stop: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(stop, ms);
    onWake(stop);
    signal.addEventListener("abort", stop, { once: true });
  });
}
