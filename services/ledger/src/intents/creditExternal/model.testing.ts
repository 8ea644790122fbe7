import type { RuleOf } from "../../domain/testing/modelBook";

export const creditExternal: RuleOf<"creditExternal"> = (book, { org, intent, id }) => {
  const { walletId, amountWon, chainLogId } = intent;
  book.walletOf(org, walletId);
  const lines = book.move(org, "TRANSFER", ["external", 0n - amountWon], [walletId, amountWon]);
  book.logs.set(`${org}/${chainLogId}`, id);
  return lines;
};
