import { Refused, type RuleOf } from "../../domain/testing/modelBook";

export const closeAccount: RuleOf<"closeAccount"> = (book, { org, intent }) => {
  const wallet = book.open(org, intent.walletId);
  if (wallet.balance > 0n || wallet.held > 0n) throw new Refused("WAL_003");
  wallet.closed = true;
  return [];
};
