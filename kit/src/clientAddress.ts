import { type IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { type Log } from "./log";

export interface ClientAddressOptions {
  /** Number of proxies of this installation in front of the process. */
  trustedProxyHops: number;
  log: Log;
}

/**
 * Returns the function that reads a caller's address. Each trusted proxy appends the address that
 * called it to X-Forwarded-For. With n proxies, the n-th entry from the right is the first that no
 * outsider could write. Without proxies the header is ignored, because any client can write it.
 */
export function createClientAddress({ trustedProxyHops, log }: ClientAddressOptions) {
  let hasWarned = false;

  function warnOfProxy(req: IncomingMessage, direct: string): void {
    const { headers } = req;
    if (headers["x-forwarded-for"] === undefined && headers["forwarded"] === undefined) return;
    if (!isPrivate(direct)) return;
    hasWarned = true;
    log.error(
      { peer: direct },
      "a proxy forwards requests but TRUSTED_PROXY_HOPS is 0: all callers share one address and its " +
        "limits; set TRUSTED_PROXY_HOPS to the number of proxies",
    );
  }

  return (req: IncomingMessage): string => {
    const direct = plain(req.socket.remoteAddress ?? "unknown");
    if (trustedProxyHops === 0) {
      if (!hasWarned) warnOfProxy(req, direct);
      return direct;
    }
    const forwarded = req.headers["x-forwarded-for"];
    if (typeof forwarded !== "string") return direct;
    const address = plain(forwarded.split(",").at(-trustedProxyHops)?.trim() ?? "");
    return isIP(address) === 0 ? direct : address;
  };
}

/** Networks from which nobody calls over the internet. */
const PRIVATE = new BlockList();
for (const [network, bits] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  PRIVATE.addSubnet(network, bits, "ipv4");
}
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");
PRIVATE.addAddress("::1", "ipv6");

function isPrivate(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && PRIVATE.check(address, version === 4 ? "ipv4" : "ipv6");
}

function plain(address: string): string {
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}
