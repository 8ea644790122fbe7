import { Refused, type RuleOf } from "../../domain/testing/modelBook";

export const placeHold: RuleOf<"placeHold"> = (book, { org, intent, done, day }) => {
  const { walletId, amountWon, dailyLimitWon } = intent;
  const wallet = book.paying(org, walletId);
  if (wallet.type !== "NORMAL") throw new Refused("TRF_004");
  if (wallet.balance - wallet.held < amountWon) throw new Refused("TRF_001");
  const used = wallet.used.get(day) ?? 0n;
  if (used + amountWon > dailyLimitWon) throw new Refused("TRF_003");
  wallet.used.set(day, used + amountWon);
  wallet.held += amountWon;
  done.hold = { wallet: walletId, amount: amountWon, day, state: "open" };
  return [];
};
