import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { type Provider } from "../../evm";
import { findCursor, findFurthestBlock, lockCursor, rewindCursor } from "../store/scanCursor";
import { finalBlockAt } from "./assertCanonical";

/**
 * Makes the running service scan final blocks again from this one. Known facts stay, and missed
 * ones are found. Only on the ingested chain: a log that was mined again has another position and
 * would count twice, and a cursor on the new chain would hide the replacement. Until the rescan is
 * complete, the sums of movements are ahead of the cursor, so the chain is not compared.
 */
export async function rescan(
  { db, provider }: { db: Database; provider: Pick<Provider, "block"> },
  fromBlock: bigint,
  operator: ActingOperator,
): Promise<"rewound" | "not_ingested_yet" | "no_such_block" | { replacedAt: bigint }> {
  const before = await provider.block(fromBlock - 1n);
  if (!before) return "no_such_block";
  // Read after the block, so that both belong to the same chain. The running service checks this
  // itself.
  const [seen, furthest] = [await findCursor(db), await findFurthestBlock(db)];
  if (!seen || !furthest || seen.blockNumber < fromBlock) return "not_ingested_yet";
  const now = await finalBlockAt(provider, furthest.blockNumber);
  if (now.hash !== furthest.blockHash) return { replacedAt: furthest.blockNumber };
  return tx(db, async (tx) => {
    const cursor = await lockCursor(tx);
    if (!cursor || cursor.blockNumber < fromBlock) return "not_ingested_yet";
    await rewindCursor(tx, { blockNumber: before.number, blockHash: before.hash, blockTime: before.time });
    const details = { fromCursor: cursor.blockNumber.toString() };
    await recordOperatorAction(tx, operator, { subject: `block ${fromBlock}`, details });
    return "rewound";
  });
}
