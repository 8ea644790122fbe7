import { type IncomingMessage } from "node:http";
import { containsAddress } from "@wonrail/kit/contract/addressRange";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Scope } from "@wonrail/kit/contract/scopes";
import { type Exchange } from "./exchange";
import { type Principal } from "./principal";
import { type Principals, type Resolution } from "./principals";
import { countHeader } from "./countHeader";

const BEARER = /^Bearer +(\S+)$/i;

/** Rights that a key needs for an operation. */
export interface KeyNeeds {
  access: "session" | "full";
  /** Null: no scope. */
  scope: Scope | null;
}

/** Returns the caller, if the key allows the operation from the client's address. */
export async function authenticate(
  principals: Principals,
  req: IncomingMessage,
  exchange: Exchange,
  needs: KeyNeeds,
): Promise<Principal> {
  const apiKey = presentedKey(req);
  if (/^sk_(test|live)_/.test(apiKey)) throw invalidKey("secret_key_sent");
  const found = principals.lookUp(apiKey, exchange.clientAddress);
  // Most look-ups answer from memory without a promise.
  return judge(found instanceof Promise ? await found : found, req, exchange, needs);
}

function judge(
  { access, refusal, principal }: Resolution,
  req: IncomingMessage,
  exchange: Exchange,
  needs: KeyNeeds,
): Principal {
  // Set before a refusal, so that the log line names the organisation.
  if (principal) exchange.context = { ...exchange.context, orgId: principal.orgId };
  const orgCode = req.headers["x-org-code"];
  // Only the holder of a valid key learns that the code is the wrong part.
  if (principal && orgCode !== undefined && orgCode !== principal.orgCode) throw invalidKey("wrong_org_code");
  if (principal) checkAddress(principal, exchange.clientAddress);
  const isEnough = access === "full" || (access === "session" && needs.access === "session");
  if (!principal || !isEnough) throw refusal ?? new DomainError("WAUTH_001");
  if (needs.scope !== null && !principal.scopes.has(needs.scope))
    throw new DomainError("WAUTH_005", { scope: needs.scope });
  return principal;
}

function checkAddress({ allowedAddresses }: Principal, address: string): void {
  if (allowedAddresses.length === 0 || containsAddress(allowedAddresses, address)) return;
  throw new DomainError("WAUTH_006", { address });
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
