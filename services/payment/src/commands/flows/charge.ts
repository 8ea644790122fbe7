import { parseWon, won } from "@wonrail/kit/contract/money";
import { type Charge } from "../../domain/charge";
import { type ChargeInput } from "../../domain/operation";
import { checkCharge, checkMemo, checkWalletId } from "../../domain/rules";
import { chargeCompleted } from "../../events";
import { chargeMessage } from "../../messages";
import { insertCharges } from "../../store/charges";
import { balanceOf } from "./balanceOf";
import { type Flow } from "./flow";

/** Money is minted into a wallet of any type. */
export const charge: Flow<"charge", ChargeInput> = {
  async prepare(_facts, _orgId, { walletId, amountWon, memo }) {
    checkCharge(parseWon(amountWon, "amount"));
    const noted = checkMemo(memo);
    checkWalletId(walletId);
    return { kind: "CHARGE", walletId, amountWon, memo: noted };
  },

  intent: ({ walletId, amountWon }) => ({ $case: "charge", value: { walletId, amountWon } }),

  async record(tx, posted, facts) {
    const charges = posted.map(({ operation, entry }): Charge => {
      const at = entry.postedAt!;
      return {
        orgId: operation.orgId,
        chargeId: operation.operationId,
        walletId: operation.input.walletId,
        amountWon: won(BigInt(operation.input.amountWon)),
        cancelledWon: won(0n),
        balanceWon: balanceOf(entry, operation.input.walletId),
        memo: operation.input.memo,
        version: 1n,
        createdAt: at,
        updatedAt: at,
      };
    });
    insertCharges(tx, charges);
    return charges.map((made, index) => {
      const message = chargeMessage(made, facts.network);
      return {
        outcome: { $case: "charge", value: message },
        event: chargeCompleted(made, message, posted[index]!.operation),
      };
    });
  },
};
