import { type IncomingMessage } from "node:http";
import { isIP } from "node:net";

/**
 * The caller's address. Each proxy of ours appends the address that it was called from, so with n of them the n-th entry from the
 * right is the first that nobody outside could write. Without proxies the header is anybody's and is not looked at.
 */
export function clientAddress(req: IncomingMessage, trustedProxyHops: number): string {
  const direct = plain(req.socket.remoteAddress ?? "unknown");
  if (trustedProxyHops === 0) return direct;
  const forwarded = req.headers["x-forwarded-for"];
  if (typeof forwarded !== "string") return direct;
  const address = plain(forwarded.split(",").at(-trustedProxyHops)?.trim() ?? "");
  return isIP(address) === 0 ? direct : address;
}

/** What one client can easily have many addresses of is one: an IPv6 network of 64 bits. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail = ""] = address.split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  while (groups.length + after.length < 8) groups.push("0");
  return [...groups, ...after]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}

function plain(address: string): string {
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}
