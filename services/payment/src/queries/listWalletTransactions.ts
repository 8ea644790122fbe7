import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type PageInfo, type PageRequest } from "@wonrail/proto/common/v1/common";
import { type LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { type WalletTransaction } from "@wonrail/proto/payment/v1/payment";
import { describeLines } from "./describeLines";
import { readTypes } from "./readTypes";

export interface ListTransactionsDeps {
  db: Database;
  ledger: Pick<PromiseClient<LedgerServiceService>, "listStatement">;
  network: string;
}

export interface TransactionsWanted {
  orgId: string;
  walletId: string;
  types: string[];
  from: Date | undefined;
  to: Date | undefined;
  page: PageRequest | undefined;
}

/** Lists the ledger's lines of a wallet, each with its settlement. */
export async function listWalletTransactions(
  deps: ListTransactionsDeps,
  { orgId, walletId, types, from, to, page }: TransactionsWanted,
): Promise<{ transactions: WalletTransaction[]; page: PageInfo | undefined }> {
  const asked = { orgId, accountId: walletId, types: readTypes(types), from, to, page };
  const statement = await deps.ledger.listStatement(asked, { retry: true });
  return { transactions: await describeLines(deps, orgId, statement.lines), page: statement.page };
}
