import { assert } from "@wonrail/kit/contract/errors";
import { type Won, won } from "@wonrail/kit/contract/money";
import { type PostResponse } from "@wonrail/proto/ledger/v1/ledger";

/** A wallet's balance right after the entry. */
export function balanceOf({ balances, requestId }: PostResponse, walletId: string): Won {
  const after = balances.find((balance) => balance.accountId === walletId);
  assert(after, `the ledger gave no balance of ${walletId} for ${requestId}`);
  return won(BigInt(after.balanceWon));
}
