import { type DomainError, isRefusal, never } from "@wonrail/kit/contract/errors";
import { closeAccount, openAccount, reopenAccount } from "./accounts";
import { openBook, type Book, type Changes, type State } from "./book";
import { cancelCharge, charge, refund } from "./charges";
import { creditExternal, earlierCredit } from "./deposits";
import { placeHold, postHold, voidHold } from "./holds";
import { accrue, cancelPayment, pay } from "./payments";
import { transfer } from "./transfers";
import { requestKey, type Entry, type LedgerRequest, type Outcome } from "./types";

export interface Decision {
  /** One for each request, in their order. */
  outcomes: Outcome[];
  changes: Changes;
  /** The state as the batch leaves it. */
  book: Book;
}

/**
 * Decides a batch strictly in order. Pure: the state that is handed in stays as it is, and deciding a sequence in any batches gives
 * the same answers and balances as deciding it one by one.
 */
export function decide(state: State, requests: readonly LedgerRequest[]): Decision {
  const book = openBook(state);
  const outcomes = requests.map((request) => decideOne(book, request));
  return { outcomes, changes: book.changes, book };
}

function decideOne(book: Book, request: LedgerRequest): Outcome {
  const key = requestKey(request.orgId, request.requestId);
  const known = book.requests.get(key);
  if (known) return known.contentHash === request.contentHash ? known.outcome : refusal("REQ_003", null);

  const credited = earlierCredit(book, request);
  if (credited) return credited;

  const answer = { contentHash: request.contentHash, outcome: outcomeOf(book, request) };
  // What is on the chain is asked for under the same id until there is room for it. That it happens once is seen to by its log.
  if (request.intent.kind === "creditExternal" && answer.outcome.status === "refused") return answer.outcome;
  book.requests.set(key, answer);
  book.changes.answered.push({ request, answer });
  return answer.outcome;
}

/** Rules throw before they change anything, so a refused request leaves the book as it was. */
function outcomeOf(book: Book, request: LedgerRequest): Outcome {
  try {
    return { status: "posted", entry: entryOf(book, request) };
  } catch (error) {
    if (isRefusal(error)) return refusal(error.code, error.details);
    throw error;
  }
}

function entryOf(book: Book, request: LedgerRequest): Entry {
  const { intent } = request;
  switch (intent.kind) {
    case "openAccount":
      return openAccount(book, request, intent);
    case "closeAccount":
      return closeAccount(book, request, intent);
    case "reopenAccount":
      return reopenAccount(book, request, intent);
    case "charge":
      return charge(book, request, intent);
    case "cancelCharge":
      return cancelCharge(book, request, intent);
    case "refund":
      return refund(book, request, intent);
    case "transfer":
      return transfer(book, request, intent);
    case "payment":
      return pay(book, request, intent);
    case "cancelPayment":
      return cancelPayment(book, request, intent);
    case "accrue":
      return accrue(book, request, intent);
    case "placeHold":
      return placeHold(book, request, intent);
    case "postHold":
      return postHold(book, request, intent);
    case "voidHold":
      return voidHold(book, request, intent);
    case "creditExternal":
      return creditExternal(book, request, intent);
    default:
      return never(intent);
  }
}

function refusal(code: DomainError["code"], details: DomainError["details"]): Outcome {
  return { status: "refused", code, details };
}
