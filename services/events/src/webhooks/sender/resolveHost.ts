import { Resolver } from "node:dns/promises";

/** The addresses of a host's name; none when it has none. */
export type ResolveHost = (hostname: string) => Promise<string[]>;

const TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Asks the name servers directly. The system's resolver uses the few threads of the process, so a
 * partner's name server that hangs would delay everything else.
 */
export function createResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  return async (hostname) => {
    const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return found.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  };
}
