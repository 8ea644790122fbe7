import { won } from "@wonrail/kit/contract/money";
import { type RefundInput } from "../../domain/operation";
import { type Refund } from "../../domain/refund";
import { checkMemo, checkWalletId } from "../../domain/rules";
import { refundCompleted } from "../../events";
import { refundMessage } from "../../messages";
import { insertRefunds } from "../../store/refunds";
import { type Flow } from "./flow";

/** The whole balance of a NORMAL wallet is paid out. How much that is, the ledger decides with the posting. */
export const refund: Flow<"refund", RefundInput> = {
  async prepare(_facts, _orgId, { walletId, memo }) {
    const noted = checkMemo(memo);
    checkWalletId(walletId);
    return { kind: "REFUND", walletId, memo: noted };
  },

  intent: ({ walletId }) => ({ $case: "refund", value: { walletId } }),

  async record(tx, posted, facts) {
    const refunds = posted.map(({ operation, entry }): Refund => {
      const { walletId, memo } = operation.input;
      const line = entry.postings.find((posting) => posting.accountId === walletId)!;
      return {
        orgId: operation.orgId,
        refundId: operation.operationId,
        walletId,
        amountWon: won(-BigInt(line.amountWon)),
        memo,
        createdAt: entry.postedAt!,
      };
    });
    insertRefunds(tx, refunds);
    return refunds.map((made, index) => {
      const message = refundMessage(made, facts.network);
      return {
        outcome: { $case: "refund", value: message },
        event: refundCompleted(made, message, posted[index]!.operation),
      };
    });
  },
};
