import { isIP } from "node:net";

/**
 * The network that counts for a caller: an IPv6 address's /64, because a caller has at least that,
 * and an IPv4 address itself.
 */
export function clientNetwork(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  const version = isIP(plain);
  if (version !== 6) return version === 4 ? plain : "unknown";
  // As many as :: stands for.
  const zeros = ":0".repeat(9 - plain.split(":").length);
  const groups = plain.replace("::", `${zeros}:`).split(":").slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group || "0", 16).toString(16)).join(":")}::/64`;
}
