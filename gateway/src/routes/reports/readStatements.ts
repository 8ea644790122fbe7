import { requirePresent, wonJson } from "@wonrail/kit/records";
import { assert } from "@wonrail/kit/contract/errors";
import { type EntryRange } from "@wonrail/proto/common/v1/common";
import { type ReadStatementResponse } from "@wonrail/proto/payment/v1/payment";
import { WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type Clients } from "../../clients";
import { transactionJson } from "../wallets";
import { type Statement, type StatementLine } from "./reportWriter";
import { withTime } from "../../middleware/withTime";

export interface StatementsWanted {
  orgId: string;
  /** Null: all wallets of the organisation. */
  walletId: string | null;
  from: Date;
  to: Date;
}

/** A part of a report. Each statement is opened, has its lines page by page, and is closed. */
export type Part =
  | { kind: "open"; statement: Statement }
  | { kind: "lines"; lines: StatementLine[] }
  | { kind: "close"; statement: Statement };

const LINES_PER_CALL = 250;
const WALLETS_PER_CALL = 100;
/** Wallets whose first pages are read at once: most wallets have one page. */
const WALLETS_AT_ONCE = 4;

/** Reads statements page by page. All belong to one state of the journal: that of the first answer. */
export async function* readStatements(
  { payment, wallet }: Pick<Clients, "payment" | "wallet">,
  wanted: StatementsWanted,
): AsyncGenerator<Part, void, undefined> {
  let entries: EntryRange | undefined;
  for await (const walletIds of groupsOf(wallet, wanted)) {
    const readFirst = (walletId: string) => readPage(payment, { ...wanted, walletId, entries });
    const pages: ReadStatementResponse[] = [];
    if (entries === undefined) {
      pages.push(await readFirst(walletIds[0]!));
      entries = pages[0]!.entries;
    }
    pages.push(...(await Promise.all(walletIds.slice(pages.length).map(readFirst))));
    for (const [index, page] of pages.entries())
      yield* readRest(payment, { ...wanted, walletId: walletIds[index]!, entries }, page);
  }
}

interface PageWanted extends StatementsWanted {
  walletId: string;
  entries: EntryRange | undefined;
  afterSequence?: bigint;
}

function readPage(payment: Clients["payment"], wanted: PageWanted): Promise<ReadStatementResponse> {
  return withTime(() => payment.readStatement({ ...wanted, limit: LINES_PER_CALL }, { retry: true }));
}

/** Writes the first page of a wallet, and reads the others. */
async function* readRest(
  payment: Clients["payment"],
  wanted: PageWanted,
  first: ReadStatementResponse,
): AsyncGenerator<Part, void, undefined> {
  const { walletId } = wanted;
  const openingBalance = wonJson(first.openingBalanceWon);
  const closingBalance = wonJson(first.closingBalanceWon);
  const statement = { walletId, openingBalance, closingBalance };
  yield { kind: "open", statement };
  let balance = openingBalance;
  for (let page = first; ;) {
    const lines = page.transactions.map(transactionJson);
    for (const { direction, amount } of lines) balance += direction === "IN" ? amount : -amount;
    yield { kind: "lines", lines };
    const { nextAfterSequence: afterSequence } = page;
    if (afterSequence === undefined) break;
    page = await readPage(payment, { ...wanted, afterSequence });
  }
  assert(balance === closingBalance, `the lines of ${walletId} do not add up to its closing balance`);
  yield { kind: "close", statement };
}

/** The wanted wallet, or groups of all wallets that were made before the end of the period. */
async function* groupsOf(
  wallet: Clients["wallet"],
  { orgId, walletId, to }: StatementsWanted,
): AsyncGenerator<string[], void, undefined> {
  if (walletId !== null) return yield [walletId];
  let cursor: string | undefined;
  do {
    const position =
      cursor === undefined
        ? ({ $case: "currentPage", value: 1 } as const)
        : ({ $case: "cursor", value: cursor } as const);
    const asked = {
      ...{ orgId, page: { limit: WALLETS_PER_CALL, position } },
      ...{ walletType: WalletType.UNSPECIFIED, status: WalletStatus.UNSPECIFIED },
    };
    const { wallets, page } = await withTime(() => wallet.listWallets(asked, { retry: true }));
    const made = wallets.filter(({ createdAt }) => requirePresent(createdAt) < to);
    for (let first = 0; first < made.length; first += WALLETS_AT_ONCE)
      yield made.slice(first, first + WALLETS_AT_ONCE).map((one) => one.walletId);
    cursor = page?.nextCursor;
  } while (cursor !== undefined);
}
