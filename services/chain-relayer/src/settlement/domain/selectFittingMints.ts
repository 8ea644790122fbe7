import { largest, smallest } from "@wonrail/kit/contract/bigints";

/** An operation that mints. */
export interface Mint {
  orgId: string;
  units: bigint;
}

/**
 * Mints that fit into the allowance. Every organisation with waiting mints gets an equal share;
 * unused parts go to the others. A mint beyond its organisation's share waits, and blocks no other.
 */
export function selectFittingMints<T extends Mint>(mints: readonly T[], room: bigint): Set<T> {
  const shares = sharesOf(mints, room);
  return new Set(
    mints.filter(({ orgId, units }) => {
      const left = shares.get(orgId)!;
      if (units > left) return false;
      shares.set(orgId, left - units);
      return true;
    }),
  );
}

/** Serves the smallest demands first: their rest goes to the larger ones. */
function sharesOf(mints: readonly Mint[], room: bigint): Map<string, bigint> {
  const demands = new Map<string, bigint>();
  for (const { orgId, units } of mints) demands.set(orgId, (demands.get(orgId) ?? 0n) + units);
  const rising = [...demands].sort(([, one], [, other]) => (one < other ? -1 : 1));
  let left = largest(room, 0n);
  return new Map(
    rising.map(([orgId, demand], index) => {
      const share = smallest(demand, left / BigInt(rising.length - index));
      left -= share;
      return [orgId, share];
    }),
  );
}
