import { isRefusal } from "@wonrail/kit/contract/errors";
import { creditKey, openBook, type Book, type Changes, type State } from "../domain/book";
import { type IntentKind } from "../domain/intents";
import { REUSED, keyOf, refusal, requestKey, type LedgerRequest, type Outcome } from "../domain/types";
import { decideIntent } from "./index";

export interface Answer {
  outcome: Outcome;
  /** True when an earlier request decided it. */
  replayed: boolean;
}

export interface Decision {
  /** An answer per request, in their order. */
  answers: Answer[];
  changes: Changes;
  /** The state after the batch. */
  book: Book;
}

/**
 * Decides a batch strictly in order. Pure: the given state is not modified, and any division into
 * batches gives the same answers and balances.
 */
export function decide(state: State, requests: readonly LedgerRequest[]): Decision {
  const book = openBook(state);
  const answers = requests.map((request) => decideOne(book, request));
  return { answers, changes: book.changes, book };
}

/**
 * Decides requests that are posted all or none. If one is refused, nothing changes but the stored
 * refusals, so a retry is refused too. The refusals leave the keys unused: a corrected request may
 * use them.
 */
export function decideTogether(state: State, requests: readonly LedgerRequest[]): Decision {
  const tried = decide(state, requests);
  if (tried.answers.every(({ outcome }) => outcome.status === "posted")) return tried;
  const book = openBook(state);
  tried.answers.forEach(({ outcome, replayed }, index) => {
    if (outcome.status === "posted" || replayed || outcome === REUSED) return;
    const request = { ...requests[index]!, key: null };
    book.changes.answered.push({ request, answer: { contentHash: request.contentHash, outcome } });
  });
  return { answers: tried.answers, changes: book.changes, book };
}

function decideOne(book: Book, request: LedgerRequest): Answer {
  const key = requestKey(request.orgId, request.requestId);
  const known = outcomeOfKey(book, request) ?? outcomeOfId(book, request, key) ?? outcomeOfLog(book, request);
  if (known) return { outcome: known, replayed: known !== REUSED };
  return { outcome: decideNew(book, request, key), replayed: false };
}

function decideNew(book: Book, request: LedgerRequest, key: string): Outcome {
  const answer = { contentHash: request.contentHash, outcome: outcomeOf(book, request) };
  if (isRetriedByCaller(request.intent.kind) && answer.outcome.status === "refused") return answer.outcome;
  book.requests.set(key, answer);
  if (request.key) {
    const { requestId } = request;
    book.keys.set(keyOf(request.orgId, request.key), { requestId, bodyHash: request.key.bodyHash });
  }
  book.changes.answered.push({ request, answer });
  return answer.outcome;
}

/** The chain decided these already: chain-relayer retries them, and refusals are not stored. */
export function isRetriedByCaller(kind: IntentKind): boolean {
  return kind === "creditExternal" || kind === "freezeAccount";
}

/** Replays the outcome of the idempotency key. Another body under the same key is REQ_003. */
function outcomeOfKey(book: Book, { orgId, key }: LedgerRequest): Outcome | undefined {
  const used = key && book.keys.get(keyOf(orgId, key));
  if (!used) return undefined;
  // A key is pruned long before the month of its entry leaves, so the entry is there.
  const first = book.requests.get(requestKey(orgId, used.requestId));
  return first && used.bodyHash === key.bodyHash ? first.outcome : REUSED;
}

/** Replays the outcome of the request id. Another content under the same id is REQ_003. */
function outcomeOfId(book: Book, request: LedgerRequest, key: string): Outcome | undefined {
  const first = book.requests.get(key);
  if (!first) return undefined;
  return first.contentHash === request.contentHash ? first.outcome : REUSED;
}

/** Rules throw before they change the book, so a refused request leaves it unchanged. */
function outcomeOf(book: Book, request: LedgerRequest): Outcome {
  try {
    return { status: "posted", entry: decideIntent(book, request) };
  } catch (error) {
    if (isRefusal(error)) return refusal(error.code, error.details);
    throw error;
  }
}

/** Returns the answer of the request that credited this log before, under any request id. */
function outcomeOfLog(book: Book, { orgId, contentHash, intent }: LedgerRequest): Outcome | undefined {
  if (intent.kind !== "creditExternal") return undefined;
  const key = book.credits.get(creditKey(orgId, intent.chainLogId));
  if (key === undefined) return undefined;
  // If the entry's month was detached, the log stays credited, but its answer is gone.
  const first = book.requests.get(key);
  return first?.contentHash === contentHash ? first.outcome : REUSED;
}
