import { orgAccountOf, minus, post, walletOf, type Book } from "./book";
import { REUSED, requestKey, type Entry, type IntentOf, type LedgerRequest, type Outcome } from "./types";

/** The tokens are at the wallet's address already, so a closed wallet is credited like an open one: else ledger and chain would part. */
export function creditExternal(
  book: Book,
  request: LedgerRequest,
  intent: IntentOf<"creditExternal">,
): Entry {
  const { orgId, requestId } = request;
  const { walletId, amountWon, chainLogId } = intent;
  const wallet = walletOf(book, orgId, walletId);
  const external = orgAccountOf(book, orgId, "ORG_EXTERNAL");
  const entry = post(book, request, [
    { account: external, type: "TRANSFER", amountWon: minus(amountWon) },
    { account: wallet, type: "TRANSFER", amountWon },
  ]);
  book.credits.set(creditKey(orgId, chainLogId), requestKey(orgId, requestId));
  book.changes.credits.push({ orgId, chainLogId, requestId });
  return entry;
}

/** The answer to the request that credited this log before, under whatever request id. */
export function earlierCredit(
  book: Book,
  { orgId, contentHash, intent }: LedgerRequest,
): Outcome | undefined {
  if (intent.kind !== "creditExternal") return undefined;
  const key = book.credits.get(creditKey(orgId, intent.chainLogId));
  if (key === undefined) return undefined;
  // Absent when its month has left the journal: credited it is, only its answer is gone.
  const first = book.requests.get(key);
  return first?.contentHash === contentHash ? first.outcome : REUSED;
}

export function creditKey(orgId: string, chainLogId: string): string {
  return `${orgId} ${chainLogId}`;
}
