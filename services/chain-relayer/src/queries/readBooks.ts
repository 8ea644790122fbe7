import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { type Cursor, findCursor } from "../store/scanCursor";
import { listWalletBooks, sumSupply, type WalletBook } from "../store/settledBalances";

/** What the chain should say at one final block: of some wallets, or of all tokens there are. */
export interface WalletBooks {
  cursor: Cursor;
  wallets: WalletBook[];
}

export interface SupplyBook {
  cursor: Cursor;
  supplyUnits: bigint;
}

const PAGE = 5_000;

/** All wallets, part by part: each part is as of one moment, and together they would not fit into memory. */
export async function* readWalletBooks(db: Database): AsyncGenerator<WalletBooks> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const books = await atOneMoment(db, (tx) => listWalletBooks(tx, after!, PAGE));
    if (!books || books.found.length === 0) return;
    yield { cursor: books.cursor, wallets: books.found };
    after = books.found.length === PAGE ? books.found.at(-1)!.walletId : undefined;
  }
}

/** Null before the first block was taken in. */
export async function readSupplyBook(db: Database): Promise<SupplyBook | null> {
  const book = await atOneMoment(db, sumSupply);
  return book && { cursor: book.cursor, supplyUnits: book.found };
}

function atOneMoment<T>(
  db: Database,
  find: (tx: Tx) => Promise<T>,
): Promise<{ cursor: Cursor; found: T } | null> {
  return tx(
    db,
    async (tx) => {
      const cursor = await findCursor(tx);
      return cursor ? { cursor, found: await find(tx) } : null;
    },
    { isolation: "repeatable read", readOnly: true },
  );
}
