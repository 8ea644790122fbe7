import { type Database, tx } from "@wonrail/kit/db";
import { type Provider } from "../../evm";
import { findCursor, findFurthest, lockCursor, rewindCursor } from "../store/scanCursor";
import { finalBlockAt } from "./assertCanonical";

/**
 * Has the running service take in final blocks again from here on. What it knows of them stays as it is; what it has missed it finds. Only on the
 * chain that was taken in: a log that was mined again has another place in its block, so it would count as another one, and a cursor on the new chain
 * would hide that blocks were replaced. Until it has taken in again what it had, the sums of the movements are those of a later block than the
 * cursor's, so nothing is compared with the chain.
 */
export async function rescan(
  { db, provider }: { db: Database; provider: Pick<Provider, "block"> },
  fromBlock: bigint,
): Promise<"rewound" | "not_taken_in_yet" | "no_such_block" | { replacedAt: bigint }> {
  const before = await provider.block(fromBlock - 1n);
  if (!before) return "no_such_block";
  // Asked after the other one, so that both are of the same chain. Where the service goes on meanwhile, it looks at this by itself.
  const [seen, furthest] = [await findCursor(db), await findFurthest(db)];
  if (!seen || !furthest || seen.blockNumber < fromBlock) return "not_taken_in_yet";
  const now = await finalBlockAt(provider, furthest.blockNumber);
  if (now.hash !== furthest.blockHash) return { replacedAt: furthest.blockNumber };
  return tx(db, async (tx) => {
    const cursor = await lockCursor(tx);
    if (!cursor || cursor.blockNumber < fromBlock) return "not_taken_in_yet";
    await rewindCursor(tx, { blockNumber: before.number, blockHash: before.hash, blockTime: before.time });
    return "rewound";
  });
}
