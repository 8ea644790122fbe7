import type { RuleOf } from "../../domain/testing/modelBook";

export const voidHold: RuleOf<"voidHold"> = (book, { org, intent }) => {
  const hold = book.endHold(org, intent.holdRequestId, "voided");
  const { used } = book.wallets.get(hold.wallet)!;
  used.set(hold.day, used.get(hold.day)! - hold.amount);
  return [];
};
