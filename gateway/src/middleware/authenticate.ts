import { type IncomingMessage } from "node:http";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Exchange } from "./exchange";
import { type Principal, type Principals, type Resolution } from "./principals";
import { timesGiven } from "./timesGiven";

const BEARER = /^Bearer +(\S+)$/i;

/** Whose request it is, provided that its key may be used for an operation of this access. */
export async function authenticate(
  principals: Principals,
  req: IncomingMessage,
  exchange: Exchange,
  access: "session" | "full",
): Promise<Principal> {
  const apiKey = presentedKey(req);
  if (apiKey === undefined) throw new DomainError("WAUTH_001");
  const found = principals.lookUp(apiKey, exchange.clientAddress);
  // Most look-ups are answered at once, and then nothing needs to be waited for.
  return judge(found instanceof Promise ? await found : found, req, exchange, access);
}

function judge(
  { access, refusal, principal }: Resolution,
  req: IncomingMessage,
  exchange: Exchange,
  needed: "session" | "full",
): Principal {
  // Before it may be refused: the line in the log says whose key it was.
  if (principal) exchange.context = { ...exchange.context, orgId: principal.orgId };
  const orgCode = req.headers["x-org-code"];
  // A key with another organisation's code says nothing about either: it is simply no valid key.
  if (principal && orgCode !== undefined && orgCode !== principal.orgCode) throw new DomainError("WAUTH_001");
  const isEnough = access === "full" || (access === "session" && needed === "session");
  if (!principal || !isEnough) throw refusal ?? new DomainError("WAUTH_001");
  return principal;
}

function presentedKey(req: IncomingMessage): string | undefined {
  const apiKey = req.headers["x-api-key"];
  const { authorization } = req.headers;
  // Another scheme's is not meant for us: a proxy on the way may ask for it.
  if (authorization === undefined) return typeof apiKey === "string" ? apiKey : undefined;
  // Two credentials leave open whose request it is, and of two in this header Node shows the first alone.
  if (timesGiven(req, "authorization") > 1) return undefined;
  if (!/^bearer\b/i.test(authorization)) return typeof apiKey === "string" ? apiKey : undefined;
  const bearer = BEARER.exec(authorization)?.[1];
  return apiKey === undefined || apiKey === bearer ? bearer : undefined;
}
