import {
  type AddressRange,
  containsAddress,
  isWithin,
  parseAddressRange,
} from "@wonrail/kit/contract/addressRange";
import { type ApiVersion, LATEST_API_VERSION } from "@wonrail/kit/contract/apiVersions";
import { DomainError, type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";
import { SCOPES, sortScopes, type Scope } from "@wonrail/kit/contract/scopes";

/** Rights of an API key. A refresh passes them to the new key unchanged. */
export interface KeyGrant {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Addresses and CIDR ranges from which the key may be used. Empty: any address. */
  readonly allowedAddresses: readonly string[];
  /** The version of the public API that requests without a version get. */
  readonly apiVersion: ApiVersion;
}

const MAX_NAME_CHARACTERS = 100;
const MAX_ADDRESSES = 50;

/** Completes and checks a grant. Without scopes a key has all of them. */
export function makeGrant(given: Partial<KeyGrant>): KeyGrant {
  const { name = "API key", scopes = SCOPES, allowedAddresses = [] } = given;
  const { apiVersion = LATEST_API_VERSION } = given;
  const problems: FieldProblem[] = allowedAddresses.flatMap((text, index) =>
    parseAddressRange(text) ? [] : [{ path: `allowedAddresses[${index}]`, message: "is no address range" }],
  );
  const check = (path: string, holds: boolean, message: string) => holds || problems.push({ path, message });
  const characters = [...name].length;
  check(
    "name",
    characters >= 1 && characters <= MAX_NAME_CHARACTERS,
    `must be 1 to ${MAX_NAME_CHARACTERS} characters long`,
  );
  check("scopes", scopes.length > 0, "must name at least one scope");
  check(
    "allowedAddresses",
    allowedAddresses.length <= MAX_ADDRESSES,
    `must have at most ${MAX_ADDRESSES} entries`,
  );
  if (problems.length > 0) throw invalidRequest(problems);
  return { name, scopes: sortScopes(scopes), allowedAddresses: [...new Set(allowedAddresses)], apiVersion };
}

/** A key issues keys with its own rights or fewer. Without an allow-list of its own the new key has the issuer's. */
export function limitToIssuer(wanted: KeyGrant, issuer: KeyGrant): KeyGrant {
  const missing = wanted.scopes.find((scope) => !issuer.scopes.includes(scope));
  if (missing !== undefined) throw new DomainError("WAUTH_005", { scope: missing });
  if (issuer.allowedAddresses.length === 0) return wanted;
  if (wanted.allowedAddresses.length === 0) return { ...wanted, allowedAddresses: issuer.allowedAddresses };
  const outer = rangesOf(issuer);
  const problems = rangesOf(wanted).flatMap((inner, index) =>
    outer.some((range) => isWithin(inner, range))
      ? []
      : [{ path: `allowedAddresses[${index}]`, message: "is outside of the allow-list of your own key" }],
  );
  if (problems.length > 0) throw invalidRequest(problems);
  return wanted;
}

export function isAddressAllowed(grant: KeyGrant, address: string): boolean {
  return grant.allowedAddresses.length === 0 || containsAddress(rangesOf(grant), address);
}

function rangesOf({ allowedAddresses }: KeyGrant): AddressRange[] {
  return allowedAddresses.map((text) => parseAddressRange(text)!);
}
