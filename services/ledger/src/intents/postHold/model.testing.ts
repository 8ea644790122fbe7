import type { RuleOf } from "../../domain/testing/modelBook";

export const postHold: RuleOf<"postHold"> = (book, { org, intent }) => {
  const hold = book.endHold(org, intent.holdRequestId, "posted");
  return book.move(org, "TRANSFER", [hold.wallet, -hold.amount], ["external", hold.amount]);
};
