import { z } from "zod";
import { parseApiKey, parseSecretKey } from "@wonrail/kit/contract/apiKey";
import { assert, DomainError } from "@wonrail/kit/contract/errors";
import { enumName } from "@wonrail/kit/grpc/client";
import {
  type GetSessionResponse,
  OrganisationStatus,
  Plan,
  Quota,
  type QuotaUsage,
} from "@wonrail/proto/auth/v1/auth";
import { isoTime, requirePresent, wonJson } from "@wonrail/kit/records";
import { type Clients } from "../clients";
import { type Principals } from "../middleware/principals";

import { keyFields, keyJson } from "./keys";
import { type Handler, operation } from "./operation";
import { responseId, timestamp, won } from "./schemas";
import { createSessionCache } from "./sessionCache";

type Auth = Clients["auth"];

const MAX_CREDENTIAL_CHARACTERS = 256;

export const refreshKey = operation({
  id: "refreshKey",
  tag: "Authentication",
  summary: "Exchange an API key for a new one",
  description:
    "Needs no key header: the body has the credentials. The old key keeps working for a short " +
    "overlap, never past its own expiry. The new key has the name, scopes, allow-list and version of " +
    "the old one. A repetition returns the same new key. Wrong secrets are " +
    "limited by address.",
  access: "anyone",
  whenUnknown: "This operation has no Idempotency-Key: send the request again. It returns the same new key.",
  body: z
    .strictObject({
      apiKey: z
        .string()
        .max(MAX_CREDENTIAL_CHARACTERS)
        .meta({ description: "The current or expired API key." }),
      secretKey: z.string().max(MAX_CREDENTIAL_CHARACTERS).meta({
        description: "The organisation's secret key. It does not change.",
      }),
    })
    .meta({ id: "RefreshKey" }),
  status: 200,
  data: z
    .strictObject({
      newApiKey: z.string().meta({ description: "The new API key. Store it: it is not shown again." }),
      expiresAt: timestamp("When the new key expires."),
    })
    .meta({ id: "RefreshedKey" }),
  errors: ["WAUTH_001", "WAUTH_006"],
});

export function refreshKeyWith(auth: Auth): Handler<typeof refreshKey> {
  return async ({ body }, { clientAddress }) => {
    const key = parseApiKey(body.apiKey);
    // A malformed credential gets the same answer as a wrong one.
    if (!key || !parseSecretKey(body.secretKey)) throw new DomainError("WAUTH_001");
    const answer = await auth.refreshKey(
      { key: { prefix: key.prefix, keyHash: key.hash }, secretKey: body.secretKey, clientAddress },
      { timeoutMs: REFRESH_TIMEOUT_MS, retry: true },
    );
    assert(answer.expiresAt, "a new key has an expiry");
    return { data: { newApiKey: answer.newApiKey, expiresAt: answer.expiresAt.toISOString() } };
  };
}

const REFRESH_TIMEOUT_MS = 5_000;

export const revokeKey = operation({
  id: "revokeKey",
  tag: "Authentication",
  summary: "Revoke the API key of this request",
  description:
    "Revokes the key for good: it is refused everywhere within a second and cannot be refreshed. " +
    "Works without an active subscription, too.",
  access: "session",
  whenUnknown:
    "This operation has no Idempotency-Key: send the request again. WAUTH_001 means that the key is revoked.",
  status: 200,
  data: z
    .strictObject({
      revoked: z.literal(true).meta({ description: "Always true." }),
      revokedAt: timestamp("When the key was revoked."),
    })
    .meta({ id: "RevokedKey" }),
  errors: [],
});

export function revokeKeyWith(
  auth: Auth,
  principals: Pick<Principals, "forgetKey">,
): Handler<typeof revokeKey> {
  return async (_input, { principal: { orgId, keyId }, clientAddress }) => {
    const { revokedAt } = await auth.revokeKey(
      { orgId, keyId, clientAddress },
      { timeoutMs: REFRESH_TIMEOUT_MS, retry: true },
    );
    principals.forgetKey(keyId);
    assert(revokedAt, "a revoked key has the moment it was revoked");
    return { data: { revoked: true, revokedAt: revokedAt.toISOString() } };
  };
}

const quotaUsage = z.strictObject({
  quota: z
    .enum(["WALLETS", "MONEY_OPERATIONS", "RECORDED_TRANSACTIONS"])
    .meta({ description: "What is counted." }),
  limit: z.int().meta({ description: "How many the plan allows in the period." }),
  used: z.int().meta({ description: "How many were used in the period." }),
  reserved: z.int().meta({ description: "How many are reserved for requests that arrive now." }),
  resetsAt: timestamp("When the period ends and the count restarts; null: never.").nullable(),
});

export const getSession = operation({
  id: "getSession",
  tag: "Authentication",
  summary: "Read the session of the API key",
  description:
    "Returns the organisation, key, plan, limits and usage. The answer can be a second old. Works without an active subscription, too.",
  access: "session",
  status: 200,
  data: z
    .strictObject({
      organisation: z
        .strictObject({
          orgId: responseId("The organisation's id."),
          orgCode: z.string().meta({ description: "The code for the header X-Org-Code." }),
          name: z.string().meta({ description: "The organisation's name." }),
          status: z
            .enum(["ACTIVE", "SUSPENDED"])
            .meta({ description: "A SUSPENDED organisation is refused everything but its session." }),
          incentiveRateBps: z.int().meta({
            description:
              "The incentive granted on the NORMAL part of a payment, in basis points: 250 is 2.5 %.",
          }),
          dailyTransferLimit: won("How much a wallet may transfer in a day of Asia/Seoul, in KRW."),
        })
        .meta({ description: "The organisation of the key." }),
      key: z.strictObject(keyFields).meta({ description: "The API key of this request." }),
      plan: z.enum(["FREE", "STANDARD", "ENTERPRISE"]).meta({ description: "The organisation's plan." }),
      subscription: z
        .strictObject({
          active: z.boolean().meta({ description: "Whether the subscription is active now." }),
          startsAt: timestamp("When the subscription starts."),
          endsAt: timestamp("When the subscription ends."),
        })
        .meta({ description: "The subscription of the organisation." }),
      rateLimit: z
        .strictObject({
          perSecond: z.int().meta({ description: "Requests that are accepted per second in the long run." }),
          burst: z.int().meta({ description: "Requests that are accepted at once." }),
        })
        .meta({ description: "The rate at which requests are accepted." }),
      usage: z.array(quotaUsage).meta({ description: "What was used of the plan in this period." }),
    })
    .meta({ id: "Session" }),
  errors: [],
});

export function getSessionWith(auth: Auth): Handler<typeof getSession> {
  const sessionFor = createSessionCache({
    ask: async (orgId, keyId) => sessionOf(await auth.getSession({ orgId, keyId }, { retry: true })),
    monotonicMs: () => performance.now(),
  });
  return async (_input, { principal: { orgId, keyId } }) => ({ data: await sessionFor(orgId, keyId) });
}

function sessionOf({ organisation, key, subscriptionActive, usage }: GetSessionResponse) {
  assert(organisation && key, "a session has an organisation and a key");
  return {
    organisation: {
      orgId: organisation.orgId,
      orgCode: organisation.code,
      name: organisation.name,
      status: requirePresent(enumName(OrganisationStatus, organisation.status)),
      incentiveRateBps: organisation.incentiveRateBps,
      dailyTransferLimit: wonJson(organisation.dailyTransferLimitWon),
    },
    key: keyJson(key),
    plan: requirePresent(enumName(Plan, organisation.plan)),
    subscription: {
      active: subscriptionActive,
      startsAt: isoTime(organisation.subscriptionStartsAt),
      endsAt: isoTime(organisation.subscriptionEndsAt),
    },
    rateLimit: { perSecond: organisation.ratePerSecond, burst: organisation.rateBurst },
    usage: usage.map(usageOf),
  };
}

function usageOf({ quota, limit, used, leased, resetsAt }: QuotaUsage) {
  return {
    quota: requirePresent(enumName(Quota, quota)),
    limit: Number(limit),
    used: Number(used),
    reserved: Number(leased),
    resetsAt: resetsAt?.toISOString() ?? null,
  };
}
