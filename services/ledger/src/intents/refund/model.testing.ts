import { Refused, type RuleOf } from "../../domain/testing/modelBook";

export const refund: RuleOf<"refund"> = (book, { org, intent }) => {
  const wallet = book.paying(org, intent.walletId);
  const free = wallet.balance - wallet.held;
  if (wallet.type === "INCENTIVE" || free === 0n) throw new Refused("CHG_007");
  return book.move(org, "REFUND", [intent.walletId, -free], ["issuance", free]);
};
