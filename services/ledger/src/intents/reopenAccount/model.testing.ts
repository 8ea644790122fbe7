import type { RuleOf } from "../../domain/testing/modelBook";

export const reopenAccount: RuleOf<"reopenAccount"> = (book, { org, intent }) => {
  book.walletOf(org, intent.walletId).closed = false;
  return [];
};
