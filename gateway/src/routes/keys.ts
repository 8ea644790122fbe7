import { z } from "zod";
import { ADDRESS_RANGE_FORM, parseAddressRange } from "@wonrail/kit/contract/addressRange";
import { API_VERSIONS } from "@wonrail/kit/contract/apiVersions";
import { assert } from "@wonrail/kit/contract/errors";
import { SCOPES } from "@wonrail/kit/contract/scopes";
import { enumName } from "@wonrail/kit/grpc/client";
import { apiKeyJson, isoTime, requirePresent } from "@wonrail/kit/records";
import { type ApiKey as ApiKeyMessage, KeyStatus } from "@wonrail/proto/auth/v1/auth";
import { type Clients } from "../clients";
import { type Principals } from "../middleware/principals";
import { toPageRequest, toPagination } from "./pagination";
import { keyedBy, retriedBy } from "./bodyHash";
import { type Handler, operation } from "./operation";
import { idOf, listQuery, momentOf, pageOf, responseId, textOf, timestamp } from "./schemas";

type Auth = Clients["auth"];

const MAX_NAME_CHARACTERS = 100;
const MAX_ADDRESSES = 50;
const CALL_TIMEOUT_MS = 5_000;

const scope = z.enum(SCOPES).meta({
  id: "Scope",
  description:
    "A right of an API key. The description of each operation names the scope that it needs. " +
    "A later release can add scopes.",
});

/** The fields of a key that do not change with each request. */
export const keyFields = {
  keyId: responseId("The key's id."),
  prefix: z.string().meta({ description: "The public part of the key, for lists and logs." }),
  name: z.string().meta({ description: "What the key is for, in your words." }),
  scopes: z.array(scope).meta({ description: "What the key may do." }),
  allowedAddresses: z
    .array(z.string())
    .meta({ description: "Addresses and CIDR ranges from which the key may be used. Empty: any address." }),
  apiVersion: z
    .string()
    .meta({ description: "The version of this API that requests without the header Wonrail-Version get." }),
  status: z.enum(["CURRENT", "OVERLAP", "EXPIRED", "REVOKED"]).meta({
    description:
      "CURRENT: works. OVERLAP: was refreshed and works until `overlapEndsAt`. EXPIRED: can only be " +
      "refreshed. REVOKED: never works again.",
  }),
  predecessorId: z
    .string()
    .nullable()
    .meta({ description: "The id of the key that a refresh replaced by this one; null for another key." }),
  issuedAt: timestamp("When the key was issued."),
  expiresAt: timestamp("When the key expires."),
  overlapEndsAt: timestamp("When a refreshed key stops working; null when it was not refreshed.").nullable(),
  revokedAt: timestamp("When the key was revoked; null when it was not.").nullable(),
};

const key = z
  .strictObject({
    ...keyFields,
    lastUsedAt: timestamp("About when the key was last used, some seconds late; null: never.").nullable(),
  })
  .meta({ id: "ApiKey", description: "An API key, without its secret part." });

const allowedAddresses = z
  .array(z.string().refine((text) => parseAddressRange(text) !== null, { message: ADDRESS_RANGE_FORM }))
  .max(MAX_ADDRESSES)
  .meta({
    description:
      "IPv4 and IPv6 addresses and CIDR ranges from which the key may be used. Empty or omitted: those " +
      "of your own key.",
  });

export const issueKey = operation({
  id: "issueKey",
  tag: "API keys",
  summary: "Issue another API key",
  description:
    "The new key has the scopes that you name. A scope that your own key lacks is refused with " +
    "WAUTH_005. An address outside of your own key's allow-list is refused, too. The answer is the " +
    "only one that shows the key. It is not stored, so `apiKey` is null in the answer to a repetition " +
    "with the same Idempotency-Key. If the first answer did not reach you, revoke the key and issue " +
    "another.",
  access: "full",
  idempotent: true,
  body: z
    .strictObject({
      name: textOf(MAX_NAME_CHARACTERS, "What the key is for, in your words.", 1),
      scopes: z
        .array(scope)
        .min(1)
        .max(SCOPES.length)
        .meta({ description: "What the key may do. At least one." }),
      allowedAddresses: allowedAddresses.optional(),
      expiresAt: momentOf(
        "When the key expires. Omitted: after the usual lifetime, which is the longest, too.",
      ).optional(),
      apiVersion: z
        .enum(API_VERSIONS)
        .optional()
        .meta({ description: "The version for requests without the header. Omitted: the newest." }),
    })
    .meta({ id: "IssueKey" }),
  status: 201,
  data: z
    .strictObject({
      ...keyFields,
      apiKey: z.string().nullable().meta({
        description: "The key itself. Store it: it is not shown again. null in the answer to a repetition.",
      }),
    })
    .meta({ id: "IssuedKey" }),
  errors: ["WAUTH_008"],
});

export const listKeys = operation({
  id: "listKeys",
  tag: "API keys",
  summary: "List API keys, newest first",
  description: "Returns a page of the organisation's keys, revoked and expired ones included.",
  access: "full",
  query: listQuery({}),
  status: 200,
  data: pageOf(key).meta({ id: "ApiKeyPage" }),
  errors: [],
});

const keyPath = z.strictObject({ keyId: idOf("key", "WAUTH_007", "The key's id.") });

export const getKey = operation({
  id: "getKey",
  tag: "API keys",
  summary: "Read an API key",
  description: "Returns one key of the organisation, without its secret part.",
  access: "full",
  params: keyPath,
  status: 200,
  data: key,
  errors: ["WAUTH_007"],
});

export const deleteKey = operation({
  id: "deleteKey",
  tag: "API keys",
  summary: "Revoke an API key",
  description:
    "Revokes a key of the organisation for good, whatever its scopes are: it is refused everywhere " +
    "within a second and cannot be refreshed. After a leak revoke the successors too, because whoever " +
    "has the key and the secret key can have refreshed it. A repetition changes nothing.",
  access: "full",
  whenUnknown: "This operation has no Idempotency-Key: send the request again. A repetition changes nothing.",
  params: keyPath,
  query: z.strictObject({
    withSuccessors: z
      .enum(["true", "false"])
      .optional()
      .meta({ description: "true: revokes the keys that were refreshed from it, too." }),
  }),
  status: 200,
  data: z
    .strictObject({
      keyId: responseId("The key's id."),
      revoked: z.literal(true).meta({ description: "Always true." }),
      revokedAt: timestamp("When the key was revoked."),
      revokedKeyIds: z
        .array(z.string())
        .meta({ description: "The keys that are revoked now: this one, then its successors if wanted." }),
    })
    .meta({ id: "DeletedKey" }),
  errors: ["WAUTH_007"],
});

export const rotateSecretKey = operation({
  id: "rotateSecretKey",
  tag: "API keys",
  summary: "Replace the secret key of the organisation",
  description:
    "Issues a new secret key. The old one refreshes no API key from now on. All API keys stay valid. The " +
    "answer is the only one that shows the secret key. It is not stored, so `secretKey` is null in the " +
    "answer to a repetition with the same Idempotency-Key. If the first answer did not reach you, " +
    "send the request again with a new key.",
  access: "full",
  idempotent: true,
  status: 200,
  data: z
    .strictObject({
      secretKey: z.string().nullable().meta({
        description:
          "The new secret key. Store it: it is not shown again. null in the answer to a repetition.",
      }),
      rotatedAt: timestamp("When the old secret key stopped working."),
    })
    .meta({ id: "RotatedSecretKey" }),
  errors: [],
});

export function issueKeyWith(auth: Auth): Handler<typeof issueKey> {
  return async ({ body }, call) => {
    const { orgId, keyId } = call.principal;
    const { name, scopes, allowedAddresses = [], expiresAt, apiVersion = "" } = body;
    const wanted = { name, scopes, allowedAddresses, expiresAt, apiVersion };
    const { clientAddress } = call;
    const request = { orgId, issuerKeyId: keyId, clientAddress, ...wanted, ...keyedBy(call, body) };
    const options = { timeoutMs: CALL_TIMEOUT_MS, ...retriedBy(call) };
    const { key, apiKey = null, replayed } = await auth.issueKey(request, options);
    return { data: { ...keyJson(requirePresent(key)), apiKey }, replayed };
  };
}

export function listKeysWith(auth: Auth): Handler<typeof listKeys> {
  return async ({ query }, { principal: { orgId } }) => {
    const { keys, page } = await auth.listKeys({ orgId, page: toPageRequest(query) }, { retry: true });
    return { data: { items: keys.map(usedKeyJson), pagination: toPagination(query, page) } };
  };
}

export function getKeyWith(auth: Auth): Handler<typeof getKey> {
  return async ({ params: { keyId } }, { principal: { orgId } }) => ({
    data: usedKeyJson(requirePresent((await auth.getKey({ orgId, keyId }, { retry: true })).key)),
  });
}

export function deleteKeyWith(
  auth: Auth,
  principals: Pick<Principals, "forgetKey">,
): Handler<typeof deleteKey> {
  return async ({ params: { keyId }, query }, { principal, clientAddress }) => {
    const { orgId, keyId: revokerKeyId } = principal;
    const withSuccessors = query.withSuccessors === "true";
    const { revokedAt, revokedKeyIds } = await auth.revokeKey(
      { orgId, keyId, revokerKeyId, withSuccessors, clientAddress },
      { timeoutMs: CALL_TIMEOUT_MS, retry: true },
    );
    for (const id of revokedKeyIds) principals.forgetKey(id);
    assert(revokedAt, "a revoked key has the moment it was revoked");
    return { data: { keyId, revoked: true, revokedAt: revokedAt.toISOString(), revokedKeyIds } };
  };
}

export function rotateSecretKeyWith(auth: Auth): Handler<typeof rotateSecretKey> {
  return async (_input, call) => {
    const { orgId, keyId } = call.principal;
    const request = { orgId, keyId, clientAddress: call.clientAddress, ...keyedBy(call, {}) };
    const options = { timeoutMs: CALL_TIMEOUT_MS, ...retriedBy(call) };
    const { secretKey = null, rotatedAt, replayed } = await auth.rotateSecretKey(request, options);
    return { data: { secretKey, rotatedAt: isoTime(rotatedAt) }, replayed };
  };
}

function usedKeyJson(message: ApiKeyMessage) {
  return { ...keyJson(message), lastUsedAt: message.lastUsedAt?.toISOString() ?? null };
}

export function keyJson(message: ApiKeyMessage) {
  return apiKeyJson({ ...message, status: requirePresent(enumName(KeyStatus, message.status)) });
}
