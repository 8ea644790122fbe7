import { type AddressRange, parseAddressRange } from "@wonrail/kit/contract/addressRange";
import { assert, isOutcomeUnknown, asOutcomeUnknown } from "@wonrail/kit/contract/errors";
import { enumName, enumValue, fromErrorDetail } from "@wonrail/kit/grpc/client";
import {
  KeyAccess,
  type Principal as PrincipalMessage,
  Quota,
  type ResolveKeyResponse,
  type WatchChangesResponse,
} from "@wonrail/proto/auth/v1/auth";
import { type Clients } from "../clients";
import { type Principal } from "./principal";
import { type ResolvedKey, type ResolveKey, type Resolution } from "./principals";
import { type LeaseQuota, type QuotaName } from "./quotas";
import { type LeaseRate } from "./rates";
import { type Change } from "./watchChanges";

/** Deadline of the stream of changes, which is then opened again. */
const STREAM_LIFE_MS = 3_600_000;
/**
 * Timeout of a second lease call. No request can be counted without it, and the rest of the request
 * needs half of its time.
 */
const SECOND_TIMEOUT_MS = 4_000;

/** auth's RPCs in the words of the middlewares that use them. */
export function authCalls(auth: Clients["auth"], replicaId: string) {
  const resolveKey: ResolveKey = async ({ prefix, hash }, clientAddress) =>
    readResolution(await auth.resolveKey({ key: { prefix, keyHash: hash }, clientAddress }, { retry: true }));

  const leaseRate: LeaseRate = (orgId, wanted) => auth.leaseRate({ orgId, replicaId, wanted });

  const leaseQuota: LeaseQuota = async ({ quota, ...rest }) => {
    const request = { ...rest, quota: enumValue(Quota, quota), replicaId };
    let mayBeLent = false;
    const onUnsure = (): void => void (mayBeLent = true);
    const answer = await auth.leaseQuota(request, { retry: true, onUnsure }).catch((error: unknown) => {
      if (!isOutcomeUnknown(error)) throw error;
      onUnsure();
      // The lease id makes the call repeatable, at another replica or at a recovered one.
      return auth
        .leaseQuota(request, { retry: true, timeoutMs: SECOND_TIMEOUT_MS })
        .catch((again: unknown) => {
          // The second attempt's outcome does not prove that the first was not executed.
          throw asOutcomeUnknown(again);
        });
    });
    const { granted, validForMs, retryAfterMs, resetsAt } = answer;
    const counts = {
      limit: Number(answer.limit),
      used: Number(answer.used),
      recallable: Number(answer.recallable),
    };
    return { granted, validForMs, retryAfterMs, resetsAt, mayBeLent, ...counts };
  };

  async function* changes(signal: AbortSignal): AsyncGenerator<Change> {
    for await (const response of auth.watchChanges({ replicaId }, { signal, timeoutMs: STREAM_LIFE_MS })) {
      const change = readChange(response);
      if (change) yield change;
    }
  }

  return { resolveKey, leaseRate, leaseQuota, changes };
}

const ACCESS: Partial<Record<KeyAccess, Resolution["access"]>> = {
  [KeyAccess.REFRESH]: "refresh",
  [KeyAccess.SESSION]: "session",
  [KeyAccess.FULL]: "full",
};

function readResolution({ access, refusal, principal, cacheableMs }: ResolveKeyResponse): ResolvedKey {
  return {
    // An access that this build does not know is none.
    access: ACCESS[access] ?? "none",
    refusal: refusal && fromErrorDetail(refusal),
    principal: principal && readPrincipal(principal),
    cacheableMs,
  };
}

function readPrincipal(message: PrincipalMessage): Principal {
  const { orgId, orgCode, keyId, keyUsableUntil, subscriptionEndsAt, ratePerSecond, rateBurst } = message;
  assert(
    orgId !== "" && keyUsableUntil && subscriptionEndsAt,
    "a principal has an organisation and its ends",
  );
  return {
    ...{ orgId, orgCode, keyId, keyUsableUntil, subscriptionEndsAt, ratePerSecond, rateBurst },
    isTestKey: message.keyPrefix.startsWith("wk_test_"),
    scopes: new Set(message.scopes),
    allowedAddresses: message.allowedAddresses.map(readRange),
    apiVersion: message.apiVersion,
  };
}

function readRange(text: string): AddressRange {
  const range = parseAddressRange(text);
  assert(range, "an allow-list has ranges of addresses");
  return range;
}

/** Undefined for a kind of change that this build does not know. */
function readChange({ change }: WatchChangesResponse): Change | undefined {
  switch (change?.$case) {
    case "started":
      return { kind: "started", heartbeatMs: change.value.heartbeatMs };
    case "heartbeat":
      return { kind: "heartbeat" };
    case "keyRevoked":
      return { kind: "keyRevoked", keyId: change.value.keyId };
    case "organisationChanged":
      return { kind: "organisationChanged", orgId: change.value.orgId };
    case "quotaRecalled": {
      const quota: QuotaName | undefined = enumName(Quota, change.value.quota);
      return quota && { kind: "quotaRecalled", orgId: change.value.orgId, quota };
    }
    default:
      return undefined;
  }
}
