import { record, type Book } from "../../domain/book";
import { endOfHold, openHold, settleHold } from "../../domain/holds";
import type { VoidHold } from "../../domain/intents";
import { giveBackToLimit } from "../../domain/limits";
import type { Entry, LedgerRequest } from "../../domain/types";
import { anyId } from "../fields";
import type { IntentModule } from "../intent";

export const voidHold: IntentModule<"voidHold"> = {
  poster: "payment",
  read: ({ holdRequestId }) => ({ kind: "voidHold", holdRequestId: anyId(holdRequestId, "holdRequestId") }),
  requiredState: ({ holdRequestId }) => ({ holdRequestId }),
  content: ({ holdRequestId }) => [holdRequestId],
  decide: release,
};

function release(book: Book, request: LedgerRequest, intent: VoidHold): Entry {
  const { hold, wallet } = openHold(book, request.orgId, intent.holdRequestId);
  settleHold(book, hold, wallet, "voided");
  giveBackToLimit(wallet, hold.limitDay, hold.amountWon);
  return endOfHold(book, record(book, request, [wallet]), hold);
}
