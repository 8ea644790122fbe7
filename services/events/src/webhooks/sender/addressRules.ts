import ipaddr from "ipaddr.js";

// Decides where deliveries may go, so that no endpoint leads into our own network.

/** Networks that ipaddr.js counts as public: benchmarks (RFC 2544), and 6to4 relays. */
const MORE_PRIVATE_IPV4 = [ipaddr.parseCIDR("198.18.0.0/15"), ipaddr.parseCIDR("192.88.99.0/24")];
/** Global unicast addresses. Everything outside is local, reserved or a translation of IPv4. */
const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

export interface AddressRules {
  /** For the local stack: deliveries go to this machine too, and without TLS. */
  isLoopbackAllowed: boolean;
}

/** True when a delivery may connect to the address. IPv4 inside of IPv6 is judged as IPv4. */
export function isAllowedAddress(text: string, { isLoopbackAllowed }: AddressRules): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  const range = address.range();
  if (range === "loopback") return isLoopbackAllowed;
  if (range !== "unicast") return false;
  if (address.kind() === "ipv4")
    return !MORE_PRIVATE_IPV4.some((network) =>
      (address as ipaddr.IPv4).match(network as [ipaddr.IPv4, number]),
    );
  return (address as ipaddr.IPv6).match(GLOBAL_IPV6);
}

export type UrlProblem =
  | "not_a_url"
  | "not_https"
  | "has_credentials"
  | "has_fragment"
  | "address_not_allowed";

/** Finds the problem of an endpoint's URL. The sender resolves a host's name at each connection. */
export function urlProblem(text: string, rules: AddressRules): UrlProblem | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "not_a_url";
  }
  if (url.username !== "" || url.password !== "") return "has_credentials";
  if (text.includes("#")) return "has_fragment";
  const literal = literalOf(url);
  if (literal !== undefined && !isAllowedAddress(literal, rules)) return "address_not_allowed";
  const isLocal = literal !== undefined && ipaddr.process(literal).range() === "loopback";
  if (url.protocol === "https:" || (url.protocol === "http:" && isLocal)) return undefined;
  return "not_https";
}

/** The address that a URL names. The URL parser has read decimal, octal and hexadecimal spellings already. */
export function literalOf({ hostname }: URL): string | undefined {
  const text = hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(text) ? text : undefined;
}
