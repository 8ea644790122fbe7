import { type Database, tx } from "@wonrail/kit/db";
import { type Cursor, findCursor } from "../store/scanCursor";
import { listWalletBooks, sumSupply, type WalletBook } from "../store/settledBalances";

/** What the chain should say at one final block. */
export interface Books {
  cursor: Cursor;
  wallets: WalletBook[];
  supplyUnits: bigint;
}

const PAGE = 5_000;

/** All of it as of one moment. Null before the first block was taken in. */
export function readBooks(db: Database): Promise<Books | null> {
  return tx(
    db,
    async (tx) => {
      const cursor = await findCursor(tx);
      if (!cursor) return null;
      const wallets: WalletBook[] = [];
      for (let page: WalletBook[] | undefined; page === undefined || page.length === PAGE;) {
        page = await listWalletBooks(tx, wallets.at(-1)?.walletId ?? "", PAGE);
        wallets.push(...page);
      }
      return { cursor, wallets, supplyUnits: await sumSupply(tx) };
    },
    { isolation: "repeatable read", readOnly: true },
  );
}
