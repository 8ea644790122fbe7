import { DomainError } from "@wonrail/kit/contract/errors";
import { type AddressRules, isAllowedAddress, literalOf, urlProblem } from "./addressRules";
import { type ResolveHost } from "./resolveHost";

export type CheckUrl = (url: string) => Promise<void>;

/**
 * Refuses the URL of an endpoint with WHK_002. A name that resolves to an address that is not allowed is refused now; each
 * delivery checks again. A name that does not resolve now is accepted, because the reason may be ours.
 */
export function createUrlCheck(rules: AddressRules, resolve: ResolveHost): CheckUrl {
  return async (text) => {
    const problem = urlProblem(text, rules);
    if (problem !== undefined) throw new DomainError("WHK_002", { reason: problem });
    const url = new URL(text);
    if (literalOf(url) !== undefined) return;
    const addresses = await resolve(url.hostname);
    if (!addresses.every((address) => isAllowedAddress(address, rules)))
      throw new DomainError("WHK_002", { reason: "address_not_allowed" });
  };
}
