import { type Database, tx } from "@wonrail/kit/db";
import { type Provider } from "../chain/provider";
import { lockCursor, saveCursor } from "../store/scanCursor";

/** Has the running service take in final blocks again from here on. What it knows of them stays as it is; what it has missed it finds. */
export async function rescan(
  { db, provider }: { db: Database; provider: Pick<Provider, "block"> },
  fromBlock: bigint,
): Promise<"rewound" | "not_taken_in_yet" | "no_such_block"> {
  const before = await provider.block(fromBlock - 1n);
  if (!before) return "no_such_block";
  return tx(db, async (tx) => {
    const cursor = await lockCursor(tx);
    if (!cursor || cursor.blockNumber < fromBlock) return "not_taken_in_yet";
    await saveCursor(tx, { blockNumber: before.number, blockHash: before.hash, blockTime: before.time });
    return "rewound";
  });
}
