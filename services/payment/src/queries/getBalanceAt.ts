import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";

export interface BalanceDeps {
  ledger: Pick<PromiseClient<LedgerServiceService>, "getBalanceAt">;
}

export interface BalanceWanted {
  orgId: string;
  walletId: string;
  /** Absent: now. */
  at: Date | undefined;
}

/** The clocks of two machines differ by less. */
const MAX_CLOCK_SKEW_MS = 10_000;

/** The balance of a wallet after all lines that were posted before a time. */
export async function getBalanceAt(
  { ledger }: BalanceDeps,
  { orgId, walletId, at = new Date() }: BalanceWanted,
): Promise<{ balanceWon: string; at: Date }> {
  if (at.getTime() > Date.now() + MAX_CLOCK_SKEW_MS)
    throw invalidRequest([{ path: "at", message: "must not be in the future" }]);
  const { balanceWon } = await ledger.getBalanceAt({ orgId, accountId: walletId, at }, { retry: true });
  return { balanceWon, at };
}
