import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { type ReadStatementRequest, type ReadStatementResponse } from "@wonrail/proto/payment/v1/payment";
import { describeLines } from "./describeLines";

export interface ReadStatementDeps {
  db: Database;
  ledger: Pick<PromiseClient<LedgerServiceService>, "readStatement">;
  network: string;
}

/** Reads a page of a wallet's statement, each line with its settlement. */
export async function readStatement(
  deps: ReadStatementDeps,
  { walletId, ...page }: ReadStatementRequest,
): Promise<ReadStatementResponse> {
  const asked = { ...page, accountId: walletId };
  const { lines, ...rest } = await deps.ledger.readStatement(asked, { retry: true });
  return { transactions: await describeLines(deps, page.orgId, lines), ...rest };
}
