import { MAX_NOTES_BYTES, notesBytes } from "@wonrail/kit/contract/notes";
import { type PostRequest } from "@wonrail/proto/ledger/v1/ledger";

/** Ids, key, trace and intent of a request. */
const REQUEST_BYTES = 1_200;
/** Ids, lines, balances and result of an entry. */
const ENTRY_BYTES = 2_400;

/** Upper bounds of a request to the ledger and of its outcome. */
export function postBytes(request: PostRequest): { request: number; answer: number } {
  const notes = notesBytes(request);
  const original = hasOriginal(request) ? ENTRY_BYTES + MAX_NOTES_BYTES : 0;
  return { request: REQUEST_BYTES + notes, answer: ENTRY_BYTES + notes + original };
}

/** The entry carries the entry that it cancels, refunds or ends, with the notes of that one. */
function hasOriginal({ intent }: PostRequest): boolean {
  switch (intent?.$case) {
    case "cancelCharge":
    case "cancelPayment":
    case "refundPayment":
    case "postHold":
    case "voidHold":
      return true;
    default:
      return false;
  }
}
