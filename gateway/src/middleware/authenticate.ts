import { type IncomingMessage } from "node:http";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Exchange } from "./exchange";
import { type Principal } from "./principal";
import { type Principals, type Resolution } from "./principals";
import { countHeader } from "./countHeader";

const BEARER = /^Bearer +(\S+)$/i;

/** Returns the caller, if the key allows an operation of this access. */
export async function authenticate(
  principals: Principals,
  req: IncomingMessage,
  exchange: Exchange,
  access: "session" | "full",
): Promise<Principal> {
  const apiKey = presentedKey(req);
  if (/^sk_(test|live)_/.test(apiKey)) throw invalidKey("secret_key_sent");
  const found = principals.lookUp(apiKey, exchange.clientAddress);
  // Most look-ups answer from memory without a promise.
  return judge(found instanceof Promise ? await found : found, req, exchange, access);
}

function judge(
  { access, refusal, principal }: Resolution,
  req: IncomingMessage,
  exchange: Exchange,
  needed: "session" | "full",
): Principal {
  // Set before a refusal, so that the log line names the organisation.
  if (principal) exchange.context = { ...exchange.context, orgId: principal.orgId };
  const orgCode = req.headers["x-org-code"];
  // Only the holder of a valid key learns that the code is the wrong part.
  if (principal && orgCode !== undefined && orgCode !== principal.orgCode) throw invalidKey("wrong_org_code");
  const isEnough = access === "full" || (access === "session" && needed === "session");
  if (!principal || !isEnough) throw refusal ?? new DomainError("WAUTH_001");
  return principal;
}

function presentedKey(req: IncomingMessage): string {
  const apiKey = req.headers["x-api-key"] as string | undefined;
  const bearer = bearerToken(req);
  if (apiKey === undefined && bearer === undefined) throw invalidKey("no_key_sent");
  if (apiKey !== undefined && bearer !== undefined && apiKey !== bearer) throw invalidKey("two_keys_sent");
  return (apiKey ?? bearer)!;
}

/** Returns undefined for another scheme, which may be meant for a proxy. */
function bearerToken(req: IncomingMessage): string | undefined {
  const { authorization } = req.headers;
  if (authorization === undefined) return undefined;
  // Node shows only the first of two.
  if (countHeader(req, "authorization") > 1) throw invalidKey("two_keys_sent");
  if (!/^bearer\b/i.test(authorization)) return undefined;
  return BEARER.exec(authorization)?.[1] ?? "";
}

/** Reasons that the caller may learn. A wrong key and an unknown one have none. */
type KeyReason = "no_key_sent" | "two_keys_sent" | "secret_key_sent" | "wrong_org_code";

function invalidKey(reason: KeyReason): DomainError {
  return new DomainError("WAUTH_001", { reason });
}
