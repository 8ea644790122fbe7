import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { type Cursor, findCursor, findFurthest } from "../../indexer";
import { listWalletBooks, sumSupply, type WalletBook } from "../store/settledBalances";

/** What the chain should say at one final block: of some wallets, or of all tokens there are. */
export interface WalletBooks extends Moment {
  wallets: WalletBook[];
}

export interface SupplyBook extends Moment {
  supplyUnits: bigint;
}

interface Moment {
  cursor: Cursor;
  /** Blocks behind the cursor's were taken in before: the books are of a later block, which the chain cannot be asked about by this one. */
  isRewound: boolean;
}

const PAGE = 5_000;

/** All wallets, part by part: each part is as of one moment, and together they would not fit into memory. */
export async function* readWalletBooks(db: Database): AsyncGenerator<WalletBooks> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const books = await atOneMoment(db, (tx) => listWalletBooks(tx, after!, PAGE));
    if (!books || books.found.length === 0) return;
    const { found: wallets, ...moment } = books;
    yield { ...moment, wallets };
    after = books.found.length === PAGE ? books.found.at(-1)!.walletId : undefined;
  }
}

/** Null before the first block was taken in. */
export async function readSupplyBook(db: Database): Promise<SupplyBook | null> {
  const book = await atOneMoment(db, sumSupply);
  if (!book) return null;
  const { found: supplyUnits, ...moment } = book;
  return { ...moment, supplyUnits };
}

function atOneMoment<T>(db: Database, find: (tx: Tx) => Promise<T>): Promise<(Moment & { found: T }) | null> {
  return tx(
    db,
    async (tx) => {
      const [cursor, furthest] = [await findCursor(tx), await findFurthest(tx)];
      if (!cursor || !furthest) return null;
      return { cursor, isRewound: furthest.blockNumber > cursor.blockNumber, found: await find(tx) };
    },
    { isolation: "repeatable read", readOnly: true },
  );
}
