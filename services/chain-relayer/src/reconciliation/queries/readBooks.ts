import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { type Cursor, findCursor, findFurthestBlock } from "../../indexer";
import { findSettledBalance, listWalletBooks, sumSupply, type WalletBook } from "../store/settledBalances";

/** Expected chain balances at one final block, of some wallets or of the supply. */
export interface WalletBooks extends Moment {
  wallets: WalletBook[];
}

export interface SupplyBook extends Moment {
  supplyUnits: bigint;
}

interface Moment {
  cursor: Cursor;
  /** During a rescan the books belong to a later block than the cursor's. */
  isRewound: boolean;
}

const PAGE = 5_000;
const SNAPSHOT = { isolation: "repeatable read", readOnly: true } as const;

/** All wallets in parts, each at one moment, because together they would not fit into memory. */
export async function* readWalletBooks(db: Database): AsyncGenerator<WalletBooks> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const books = await atOneMoment(db, (tx) => listWalletBooks(tx, after!, PAGE));
    if (!books || books.found.length === 0) return;
    const { found: wallets, ...moment } = books;
    yield { ...moment, wallets };
    after = books.found.length === PAGE ? books.found.at(-1)!.walletId : undefined;
  }
}

/** Returns null before the first ingested block. */
export async function readSupplyBook(db: Database): Promise<SupplyBook | null> {
  const book = await atOneMoment(db, sumSupply);
  if (!book) return null;
  const { found: supplyUnits, ...moment } = book;
  return { ...moment, supplyUnits };
}

/** A wallet's book and the block that it belongs to. Undefined before the first ingested block. */
export async function readWalletBook(db: Database, orgId: string, walletId: string) {
  return tx(
    db,
    async (tx) => {
      const furthest = await findFurthestBlock(tx);
      return furthest && { ...furthest, ...(await findSettledBalance(tx, orgId, walletId)) };
    },
    SNAPSHOT,
  );
}

function atOneMoment<T>(db: Database, find: (tx: Tx) => Promise<T>): Promise<(Moment & { found: T }) | null> {
  return tx(
    db,
    async (tx) => {
      const [cursor, furthest] = [await findCursor(tx), await findFurthestBlock(tx)];
      if (!cursor || !furthest) return null;
      return { cursor, isRewound: furthest.blockNumber > cursor.blockNumber, found: await find(tx) };
    },
    SNAPSHOT,
  );
}
