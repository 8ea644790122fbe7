import { Refused, dayOf, type RuleOf } from "../../domain/testing/modelBook";

const THIRTY_DAYS_MS = 2_592_000_000;

export const cancelCharge: RuleOf<"cancelCharge"> = (book, { org, intent, nowMs }) => {
  const charge = book.doneOf(org, intent.chargeRequestId);
  if (charge?.kind !== "charge" || charge.answer.code !== undefined) throw new Refused("CHG_002");
  const left = charge.amount! - charge.cancelled;
  if (left === 0n) throw new Refused("CHG_003");
  if (nowMs - charge.atMs > THIRTY_DAYS_MS) throw new Refused("CHG_004");
  const amount = intent.amountWon ?? left;
  if (amount > left) throw new Refused("CHG_005");
  const wallet = book.paying(org, charge.wallet!);
  if (wallet.balance - wallet.held < amount) throw new Refused("CHG_006");
  charge.cancelled += amount;
  const day = `${org} ${dayOf(charge.atMs)}`;
  book.charged.set(day, book.charged.get(day)! - amount);
  return book.move(org, "CHARGE_CANCEL", [charge.wallet!, -amount], ["issuance", amount]);
};
