import { freezeOf, Refused, type Move, type RuleOf, type Wallet } from "../../domain/testing/modelBook";
import type { WalletType } from "../../domain/accountTypes";

type Found = [string, Wallet] | undefined;

export const payment: RuleOf<"payment"> = (book, { org, intent, done }) => {
  const payer = book.paying(org, intent.payerWalletId);
  const receiver = book.receiving(org, intent.receiverWalletId);
  if (receiver.type !== "NORMAL" || receiver.user === payer.user) throw new Refused("PAY_005");
  const find = (type: WalletType): Found =>
    [...book.wallets].find(([, w]) => w.org === org && w.user === payer.user && w.type === type);
  const [incentive, normal] = [find("INCENTIVE"), find("NORMAL")];
  let fromIncentive = free(incentive) < intent.amountWon ? free(incentive) : intent.amountWon;
  if (intent.incentiveAmountWon !== null) {
    if (intent.incentiveAmountWon > fromIncentive) throw new Refused("PAY_006");
    fromIncentive = intent.incentiveAmountWon;
  }
  const fromNormal = intent.amountWon - fromIncentive;
  if (free(normal) < fromNormal) throw new Refused("PAY_001");
  let accrued = (fromNormal * BigInt(intent.accrualRateBps)) / 10000n;
  if (accrued > 0n && !incentive) throw new Refused("WAL_002");
  if (incentive && (incentive[1].closed || freezeOf(incentive[1]) === "ALL")) accrued = 0n;
  const parts: Move[] = [];
  if (fromIncentive > 0n) parts.push([incentive![0], "INCENTIVE_USE", -fromIncentive]);
  if (fromNormal > 0n) parts.push([normal![0], "PAYMENT", -fromNormal]);
  const moves: Move[] = [...parts, [intent.receiverWalletId, "PAYMENT", intent.amountWon]];
  if (accrued > 0n) moves.push(["incentive", "INCENTIVE", -accrued], [incentive![0], "INCENTIVE", accrued]);
  const lines = book.moves(org, moves);
  done.undo = {
    receiver: intent.receiverWalletId,
    parts,
    accrued,
    ...(incentive && { incentive: incentive[0] }),
  };
  return lines;
};

function free(found: Found): bigint {
  return found && !found[1].closed && freezeOf(found[1]) === "NONE" ? found[1].balance - found[1].held : 0n;
}
