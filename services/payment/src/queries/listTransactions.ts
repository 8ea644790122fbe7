import { cutPage, type Page } from "@wonrail/kit/page";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import { type LedgerServiceService, type PlacedLine } from "@wonrail/proto/ledger/v1/ledger";
import { type ListFilter, type WalletTransaction } from "@wonrail/proto/payment/v1/payment";
import { type Database } from "@wonrail/kit/db";
import { describeLines } from "./describeLines";
import { readTypes } from "./readTypes";

export interface ListTransactionsDeps {
  db: Database;
  ledger: Pick<PromiseClient<LedgerServiceService>, "listLines">;
  network: string;
}

export interface OrganisationTransactionsWanted {
  orgId: string;
  types: string[];
  status: string | undefined;
  filter: ListFilter | undefined;
  page: Page;
}

interface Found {
  transaction: WalletTransaction;
  place: string;
}

/** Lines of one call to the ledger. */
const LINES_PER_CALL = 1_000;
/** Calls to the ledger for one page. */
const MAX_CALLS = 10;

/**
 * Lists the lines of all wallets of an organisation, each with its status and settlement. The ledger
 * has neither. A page that is filtered by one of them reads a limited number of lines.
 */
export async function listTransactions(
  deps: ListTransactionsDeps,
  { orgId, types, status, filter, page }: OrganisationTransactionsWanted,
): Promise<{ transactions: WalletTransaction[]; page: PageInfo }> {
  const { settlementStatus, ...ofLedger } = filter ?? {};
  const wanted = page.offset + page.limit + 1;
  const isSearch = status !== undefined || settlementStatus !== undefined || page.offset > 0;
  const found: Found[] = [];
  let after = page.after ?? undefined;
  for (let call = 1; ; call += 1) {
    const { lines, nextAfter } = await deps.ledger.listLines(
      {
        ...{ orgId, types: readTypes(types), ...ofLedger, after },
        ...{ oldestFirst: page.oldestFirst === true, limit: isSearch ? LINES_PER_CALL : wanted },
      },
      { retry: true },
    );
    found.push(...(await describe(deps, orgId, lines)).filter(isWanted));
    after = nextAfter;
    if (found.length >= wanted || after === undefined || call === MAX_CALLS) break;
  }
  const rows = found.slice(page.offset);
  const { items, info } = cutPage(rows, page, ({ place }) => place, null, after ?? null);
  return { transactions: items.map(({ transaction }) => transaction), page: info };

  function isWanted({ transaction }: Found): boolean {
    return (
      (status === undefined || transaction.status === status) &&
      (settlementStatus === undefined || transaction.settlement!.status === settlementStatus)
    );
  }
}

async function describe(deps: ListTransactionsDeps, orgId: string, placed: PlacedLine[]): Promise<Found[]> {
  const transactions = await describeLines(
    deps,
    orgId,
    placed.map(({ line }) => line!),
  );
  return transactions.map((transaction, index) => ({ transaction, place: placed[index]!.place }));
}
