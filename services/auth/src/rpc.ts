import { isKeyPrefix, type PresentedApiKey } from "@wonrail/kit/contract/apiKey";
import { isApiVersion } from "@wonrail/kit/contract/apiVersions";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { isScope, SCOPES } from "@wonrail/kit/contract/scopes";
import {
  enumName,
  type GrpcService,
  type Handlers,
  implement,
  readAtMost,
  readOrgId,
  toErrorDetail,
} from "@wonrail/kit/grpc/server";
import { type Id, isId } from "@wonrail/kit/contract/ids";
import { readKeyedRequest } from "@wonrail/kit/idempotency";
import { readPage } from "@wonrail/kit/page";
import {
  AuthServiceService,
  type GetSessionResponse,
  type IssueKeyRequest,
  KeyAccess,
  type LeaseQuotaRequest,
  type LeaseQuotaResponse,
  Plan,
  type PresentedKey,
  type Principal,
  Quota,
  type RefreshKeyResponse,
  type ResolveKeyResponse,
  type WatchChangesResponse,
} from "@wonrail/proto/auth/v1/auth";
import { type App } from "./app";
import { type IssueKeyByKeyInput } from "./commands/issueKey";
import { type LeaseQuotaInput, type QuotaGrant } from "./commands/leaseQuota";
import { type RefreshedKey } from "./commands/refreshKey";
import { type ResolvedKey } from "./commands/resolveKey";
import { usableUntil } from "./domain/keys";
import { RATE_LEASE_MS } from "./domain/rates";
import { QUOTA_RECALL_MS } from "./domain/quotas";
import { keyMessage, organisationMessage, usageMessage } from "./messages";
import { type Session } from "./queries/getSessions";
import { HEARTBEAT_MS, type Word } from "./queries/watchChanges";

const MAX_WANTED = 1_000_000;
const MAX_ACCOUNTS = 100;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The gRPC methods: each reads the request, calls the app and writes the answer. */
export function rpc(app: App): GrpcService[] {
  return [
    implement(AuthServiceService, {
      async resolveKey({ key, clientAddress }) {
        const resolved = await app.resolveKey({ presented: presentedKey(key), clientAddress });
        const refusal = refusalOf(resolved);
        if (refusal) app.countRefusal(refusal.code);
        return resolveKeyResponse(resolved, refusal);
      },

      async refreshKey({ key, secretKey, clientAddress }) {
        return refreshKeyResponse(
          await app.refreshKey({ presented: presentedKey(key), secretKey, clientAddress }),
        );
      },

      async issueKey(request) {
        const { key, apiKey, replayed } = await app.issueKeyByKey(issueKeyInput(request));
        // As issued, also when it changed since: a replay gets the first answer.
        return { key: keyMessage(key, key.issuedAt), apiKey, replayed };
      },

      async getKey({ orgId, keyId }) {
        const id = readOrgId(orgId);
        if (!isId("key", keyId)) throw new DomainError("WAUTH_007");
        const { key, now } = await app.getKey(id, keyId);
        return { key: keyMessage(key, now) };
      },

      async listKeys({ orgId, page }) {
        const wanted = readPage(page, (key) => isId("key", key));
        const { items, info, now } = await app.getKeyPage(readOrgId(orgId), wanted);
        return { keys: items.map((key) => keyMessage(key, now)), page: info };
      },

      async revokeKey({ orgId, keyId, clientAddress, revokerKeyId, withSuccessors }) {
        const { revokedAt, keyIds } = await app.revokeKey({
          orgId: readOrgId(orgId),
          keyId: keyIdOf(keyId),
          withSuccessors: withSuccessors ?? false,
          ...(revokerKeyId === undefined ? {} : { actor: { keyId: keyIdOf(revokerKeyId) } }),
          details: { address: clientAddress },
        });
        return { revokedAt, revokedKeyIds: keyIds };
      },

      async rotateSecretKey(request) {
        const orgId = readOrgId(request.orgId);
        return app.rotateSecretKeyByKey({
          ...{ orgId, keyId: keyIdOf(request.keyId), clientAddress: request.clientAddress },
          keyed: readKeyedRequest("rotateSecretKey", orgId, request),
        });
      },

      async getSession({ orgId, keyId }) {
        return sessionResponse(await app.getSession({ orgId: readOrgId(orgId), keyId: keyIdOf(keyId) }));
      },

      async leaseRate({ orgId, wanted }) {
        check("wanted", `must be at most ${MAX_WANTED}`, wanted <= MAX_WANTED);
        const { rule, ...draw } = await app.leaseRate({ orgId: readOrgId(orgId), wanted });
        return { ...draw, validForMs: RATE_LEASE_MS, ratePerSecond: rule.perSecond, rateBurst: rule.burst };
      },

      async leaseQuota(request) {
        return leaseQuotaResponse(await app.leaseQuota(leaseQuotaInput(request)));
      },

      async *watchChanges(_request, { signal }) {
        for await (const word of app.watchChanges(signal)) yield watchChangesResponse(word);
      },

      async getOrganisation({ by }) {
        if (!by) throw invalidRequest([{ path: "by", message: "must be an organisation's id or code" }]);
        const found = await app.findOrganisation(
          by.$case === "code" ? { code: by.value } : { orgId: by.value },
        );
        return {
          organisation: organisationMessage(found.organisation),
          subscriptionActive: found.subscriptionActive,
        };
      },

      ...sandboxHandlers(app),
    }),
  ];
}

type SandboxMethods = "advanceSandboxClock" | "expireSandboxKey";

/** None without the sandbox, where the methods are UNIMPLEMENTED. */
function sandboxHandlers(app: App): Pick<Handlers<typeof AuthServiceService>, SandboxMethods> {
  if (!app.hasSandbox) return {};
  return {
    async advanceSandboxClock({ orgId, keyId, to }) {
      const wanted = { orgId: readOrgId(orgId), keyId: keyIdOf(keyId), to: to ?? null };
      const { offsetMs, now } = await app.advanceClock(wanted);
      return { offsetMs: BigInt(offsetMs), now };
    },

    async expireSandboxKey({ orgId, keyId, issuerKeyId }) {
      const wanted = { orgId: readOrgId(orgId), issuerKeyId: keyIdOf(issuerKeyId) };
      if (!isId("key", keyId)) throw new DomainError("WAUTH_007");
      const { key, now } = await app.expireKey({ ...wanted, keyId });
      return { key: keyMessage(key, now) };
    },
  };
}

function refusalOf({ standing, refusal }: ResolvedKey): DomainError | undefined {
  return refusal ?? (standing.refusal === null ? undefined : new DomainError(standing.refusal));
}

function resolveKeyResponse(
  { standing, caller }: ResolvedKey,
  refusal: DomainError | undefined,
): ResolveKeyResponse {
  return {
    access: KeyAccess[standing.access],
    refusal: refusal && toErrorDetail(refusal),
    principal: caller && principalOf(caller),
    cacheableMs: standing.cacheableMs,
  };
}

function principalOf({
  key,
  organisation,
  subscriptionActive,
}: NonNullable<ResolvedKey["caller"]>): Principal {
  return {
    orgId: organisation.orgId,
    orgCode: organisation.code,
    keyId: key.keyId,
    keyPrefix: key.prefix,
    keyUsableUntil: usableUntil(key),
    subscriptionEndsAt: organisation.subscriptionEndsAt,
    subscriptionActive,
    plan: Plan[organisation.plan],
    ratePerSecond: organisation.ratePerSecond,
    rateBurst: organisation.rateBurst,
    organisationVersion: organisation.version,
    scopes: [...key.scopes],
    allowedAddresses: [...key.allowedAddresses],
    apiVersion: key.apiVersion,
  };
}

function refreshKeyResponse({ key, apiKey, oldKeyUsableUntil }: RefreshedKey): RefreshKeyResponse {
  return {
    newApiKey: apiKey,
    expiresAt: key.expiresAt,
    keyId: key.keyId,
    keyPrefix: key.prefix,
    oldKeyUsableUntil: oldKeyUsableUntil ?? undefined,
  };
}

function issueKeyInput(request: IssueKeyRequest): IssueKeyByKeyInput {
  const { orgId, issuerKeyId, name, allowedAddresses, expiresAt, apiVersion, clientAddress } = request;
  const scopes = readAtMost(SCOPES.length, request.scopes, "scopes").filter(isScope);
  check("scopes", "must be scopes that this release knows", scopes.length === request.scopes.length);
  const isKnownVersion = apiVersion === "" || isApiVersion(apiVersion);
  check("apiVersion", "must be a version that this release knows", isKnownVersion);
  return {
    orgId: readOrgId(orgId),
    issuerKeyId: keyIdOf(issuerKeyId),
    grant: { name, scopes, allowedAddresses, ...(isApiVersion(apiVersion) ? { apiVersion } : {}) },
    expiresAt,
    clientAddress,
    keyed: readKeyedRequest("issueKey", readOrgId(orgId), request),
  };
}

function sessionResponse({ organisation, key, subscriptionActive, now, usage }: Session): GetSessionResponse {
  return {
    organisation: organisationMessage(organisation),
    key: keyMessage(key, now),
    subscriptionActive,
    usage: usage.map(usageMessage),
  };
}

function leaseQuotaInput(request: LeaseQuotaRequest): LeaseQuotaInput {
  const { orgId, quota, replicaId, wanted, leaseId, accounts } = request;
  const name = enumName(Quota, quota);
  if (name === undefined) throw invalidRequest([{ path: "quota", message: "is not a quota" }]);
  const isLeaseId = wanted === 0 ? leaseId === "" : UUID.test(leaseId);
  check("leaseId", "must be a UUID, and empty when nothing is wanted", isLeaseId);
  check("wanted", `must be at most ${MAX_WANTED}`, wanted <= MAX_WANTED);
  const areLeaseIds = readAtMost(MAX_ACCOUNTS, accounts, "accounts").every((each) => UUID.test(each.leaseId));
  check("accounts.leaseId", "must be a UUID", areLeaseIds);
  return { orgId: readOrgId(orgId), quota: name, replicaId, wanted, leaseId: leaseId || null, accounts };
}

function leaseQuotaResponse({ usage, period, ...grant }: QuotaGrant): LeaseQuotaResponse {
  const retryAfterMs = grant.recallable > 0n ? QUOTA_RECALL_MS : 0;
  return { ...grant, used: usage.spent, leased: usage.leased, retryAfterMs, resetsAt: period.resetsAt };
}

function watchChangesResponse(word: Word): WatchChangesResponse {
  switch (word.kind) {
    case "started":
      return { change: { $case: "started", value: { heartbeatMs: HEARTBEAT_MS } } };
    case "heartbeat":
      return { change: { $case: "heartbeat", value: {} } };
    case "key_revoked": {
      const { orgId, keyId, prefix } = word;
      return { change: { $case: "keyRevoked", value: { orgId, keyId, keyPrefix: prefix } } };
    }
    case "organisation_changed": {
      const { orgId, version } = word;
      return { change: { $case: "organisationChanged", value: { orgId, version: BigInt(version) } } };
    }
    case "quota_recalled":
      return { change: { $case: "quotaRecalled", value: { orgId: word.orgId, quota: Quota[word.quota] } } };
  }
}

function presentedKey(key: PresentedKey | undefined): PresentedApiKey {
  const wellFormed = isKeyPrefix(key?.prefix ?? "") && key?.keyHash.length === 32;
  check("key", "must be a prefix and a SHA-256", wellFormed);
  return { prefix: key!.prefix, hash: key!.keyHash };
}

function keyIdOf(text: string): Id<"key"> {
  if (!isId("key", text)) throw invalidRequest([{ path: "keyId", message: "must be a key's id" }]);
  return text;
}

function check(path: string, message: string, holds: boolean): void {
  if (!holds) throw invalidRequest([{ path, message }]);
}
