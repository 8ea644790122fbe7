import { Refused, type RuleOf } from "../../domain/testing/modelBook";

export const charge: RuleOf<"charge"> = (book, { org, intent, done, day }) => {
  const { walletId, amountWon, dailyLimitWon, maxChargeWon } = intent;
  book.receiving(org, walletId);
  if (amountWon > maxChargeWon) throw new Refused("CHG_008");
  const charged = book.charged.get(`${org} ${day}`) ?? 0n;
  if (charged + amountWon > dailyLimitWon) throw new Refused("CHG_008");
  const lines = book.move(org, "CHARGE", ["issuance", 0n - amountWon], [walletId, amountWon]);
  book.charged.set(`${org} ${day}`, charged + amountWon);
  Object.assign(done, { wallet: walletId, amount: amountWon });
  return lines;
};
