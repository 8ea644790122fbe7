import { assert } from "@wonrail/kit/contract/errors";
import type { Won } from "@wonrail/kit/contract/money";
import { orgAccountOf, type Book, type Move } from "./book";
import type { Account } from "./types";

/** Parts of a payment and of its cancellation. An amount of 0 moves nothing. */

/** Moves money of the organisation's incentive account. */
export function fundMove(book: Book, orgId: string, type: Move["type"], amountWon: Won): Move[] {
  return amountWon === 0n ? [] : move(orgAccountOf(book, orgId, "ORG_INCENTIVE"), type, amountWon);
}

export function move(account: Account | undefined, type: Move["type"], amountWon: Won): Move[] {
  if (amountWon === 0n) return [];
  assert(account, "a wallet that does not exist takes no part in a payment");
  return [{ account, type, amountWon }];
}
