import type { RuleOf } from "../../domain/testing/modelBook";

export const freezeAccount: RuleOf<"freezeAccount"> = (book, { org, intent }) => {
  book.walletOf(org, intent.walletId).freezes[intent.source] = intent.freeze;
  return [];
};
