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

function plain(address: string): string {
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}
