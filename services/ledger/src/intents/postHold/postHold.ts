import { minus, orgAccountOf, post, requireRoom, type Book } from "../../domain/book";
import { endOfHold, openHold, settleHold } from "../../domain/holds";
import type { PostHold } from "../../domain/intents";
import type { Entry, LedgerRequest } from "../../domain/types";
import { anyId } from "../fields";
import type { IntentModule } from "../intent";

export const postHold: IntentModule<"postHold"> = {
  poster: "payment",
  read: ({ holdRequestId }) => ({ kind: "postHold", holdRequestId: anyId(holdRequestId, "holdRequestId") }),
  requiredState: ({ holdRequestId }) => ({ orgAccounts: ["ORG_EXTERNAL"], holdRequestId }),
  content: ({ holdRequestId }) => [holdRequestId],
  decide: settle,
};

/** The wallet may be frozen. It cannot be closed, because it holds money. */
function settle(book: Book, request: LedgerRequest, intent: PostHold): Entry {
  const { hold, wallet } = openHold(book, request.orgId, intent.holdRequestId);
  const external = orgAccountOf(book, request.orgId, "ORG_EXTERNAL");
  requireRoom(external.balanceWon + hold.amountWon);
  settleHold(book, hold, wallet, "posted");
  const entry = post(book, request, [
    { account: wallet, type: "TRANSFER", amountWon: minus(hold.amountWon) },
    { account: external, type: "TRANSFER", amountWon: hold.amountWon },
  ]);
  return endOfHold(book, entry, hold);
}
