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
import { type Clients } from "../clients";
import { type Principals } from "../middleware/principals";
import { iso, known, wonOf } from "./answers";
import { type Handler, operation } from "./operation";
import { givenId, timestamp, won } from "./schemas";
import { createSessionCache } from "./sessionCache";

type Auth = Clients["auth"];

const MAX_CREDENTIAL_CHARACTERS = 256;

export const refreshKey = operation({
  id: "refreshKey",
  tag: "Authentication",
  summary: "Get a new API key for a current or expired one",
  description:
    "Needs no key header: the body carries the credentials. The old key goes on working for a short overlap, never past its own expiry. Repeating the request gives the same new key again.",
  access: "anyone",
  whenUnknown: "This one takes none: the same request again gives the same new key.",
  body: z
    .strictObject({
      apiKey: z.string().max(MAX_CREDENTIAL_CHARACTERS).meta({ description: "The current or expired key." }),
      secretKey: z.string().max(MAX_CREDENTIAL_CHARACTERS).meta({
        description: "The organisation's secret key. It stays the same.",
      }),
    })
    .meta({ id: "RefreshKey" }),
  status: 200,
  data: z
    .strictObject({
      newApiKey: z.string().meta({ description: "Shown once." }),
      expiresAt: timestamp("When the new key expires."),
    })
    .meta({ id: "RefreshedKey" }),
  errors: ["WAUTH_001"],
});

export function refreshKeyWith(auth: Auth): Handler<typeof refreshKey> {
  return async ({ body }, { clientAddress }) => {
    const key = parseApiKey(body.apiKey);
    // A wrong form is answered as a wrong credential; which of the two it was is nobody's business.
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
    "For good: it is refused everywhere within a second and cannot be refreshed. Works with an expired subscription too.",
  access: "session",
  whenUnknown: "This one takes none: send it again, and WAUTH_001 says that the key is revoked.",
  status: 200,
  data: z
    .strictObject({ revoked: z.literal(true), revokedAt: timestamp("When it was revoked.") })
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
  quota: z.enum(["WALLETS", "MONEY_OPERATIONS", "RECORDED_TRANSACTIONS"]),
  limit: z.int(),
  used: z.int(),
  reserved: z.int().meta({ description: "Lent to gateways for requests that are coming in, not yet used." }),
  resetsAt: timestamp("When the count starts anew; null: never.").nullable(),
});

export const getSession = operation({
  id: "getSession",
  tag: "Authentication",
  summary: "See what the API key is and may do",
  description: "Works with an expired subscription too.",
  access: "session",
  status: 200,
  data: z
    .strictObject({
      organisation: z.strictObject({
        orgId: givenId("The organisation's id."),
        orgCode: z.string().meta({ description: "What goes into X-Org-Code." }),
        name: z.string(),
        status: z.enum(["ACTIVE", "SUSPENDED"]),
        incentiveRateBps: z.int().meta({ description: "Accrued on payments from NORMAL: 250 is 2.5 %." }),
        dailyTransferLimit: won("For each wallet and day of Asia/Seoul, in KRW."),
      }),
      key: z.strictObject({
        keyId: givenId("The key's id."),
        prefix: z.string().meta({ description: "What names the key in lists and logs." }),
        issuedAt: timestamp("When it was issued."),
        expiresAt: timestamp("When it expires."),
        overlapEndsAt: timestamp(
          "When it stops working because it was refreshed; null: it was not.",
        ).nullable(),
      }),
      plan: z.enum(["FREE", "STANDARD", "ENTERPRISE"]),
      subscription: z.strictObject({
        active: z.boolean(),
        startsAt: timestamp("Its first moment."),
        endsAt: timestamp("The moment after its last."),
      }),
      rateLimit: z.strictObject({
        perSecond: z.int(),
        burst: z.int(),
      }),
      usage: z.array(quotaUsage).meta({ description: "Against the plan, in this period." }),
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
      status: known(enumName(OrganisationStatus, organisation.status)),
      incentiveRateBps: organisation.incentiveRateBps,
      dailyTransferLimit: wonOf(organisation.dailyTransferLimitWon),
    },
    key: {
      keyId: key.keyId,
      prefix: key.prefix,
      issuedAt: iso(key.issuedAt),
      expiresAt: iso(key.expiresAt),
      overlapEndsAt: key.overlapEndsAt?.toISOString() ?? null,
    },
    plan: known(enumName(Plan, organisation.plan)),
    subscription: {
      active: subscriptionActive,
      startsAt: iso(organisation.subscriptionStartsAt),
      endsAt: iso(organisation.subscriptionEndsAt),
    },
    rateLimit: { perSecond: organisation.ratePerSecond, burst: organisation.rateBurst },
    usage: usage.map(usageOf),
  };
}

function usageOf({ quota, limit, used, leased, resetsAt }: QuotaUsage) {
  return {
    quota: known(enumName(Quota, quota)),
    limit: Number(limit),
    used: Number(used),
    reserved: Number(leased),
    resetsAt: resetsAt?.toISOString() ?? null,
  };
}
