import { Refused, type RuleOf } from "../../domain/testing/modelBook";

export const transfer: RuleOf<"transfer"> = (book, { org, intent, day }) => {
  const { fromWalletId, toWalletId, amountWon, dailyLimitWon } = intent;
  const from = book.paying(org, fromWalletId);
  if (from.type !== "NORMAL") throw new Refused("TRF_004");
  const to = book.receiving(org, toWalletId);
  if (fromWalletId === toWalletId) throw new Refused("TRF_002");
  if (to.type !== "NORMAL") throw new Refused("TRF_004");
  if (from.balance - from.held < amountWon) throw new Refused("TRF_001");
  const used = from.used.get(day) ?? 0n;
  if (used + amountWon > dailyLimitWon) throw new Refused("TRF_003");
  const lines = book.move(org, "TRANSFER", [fromWalletId, 0n - amountWon], [toWalletId, amountWon]);
  from.used.set(day, used + amountWon);
  return lines;
};
