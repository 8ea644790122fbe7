import { parseWon, won } from "@wonrail/kit/contract/money";
import { checkDestination } from "../../domain/destination";
import { type TransferInput } from "../../domain/operation";
import { checkMemo, checkPositive, checkWalletId } from "../../domain/rules";
import { type Transfer } from "../../domain/transfer";
import { transferCompleted, transferHeld } from "../../events";
import { transferMessage } from "../../messages";
import { insertTransfers } from "../../store/transfers";
import { type Flow } from "./flow";

/**
 * Between the organisation's own wallets a transfer is final when the ledger has posted it. To any other address its amount is held, and
 * `settleTransfers` posts or gives it back when the chain has said its last word.
 */
export const transfer: Flow<"transfer", TransferInput> = {
  async prepare(facts, orgId, { fromWalletId, toWalletAddress, amountWon, memo }) {
    const amount = parseWon(amountWon, "amount");
    checkPositive(amount, "amount");
    const toAddress = checkDestination(toWalletAddress, facts.contracts);
    const noted = checkMemo(memo);
    checkWalletId(fromWalletId);
    const [toWalletId, policy] = await Promise.all([facts.walletAt(orgId, toAddress), facts.policyOf(orgId)]);
    return {
      kind: "TRANSFER",
      fromWalletId,
      toAddress,
      toWalletId,
      amountWon,
      dailyLimitWon: policy.dailyLimitWon,
      memo: noted,
    };
  },

  intent({ fromWalletId, toWalletId, toAddress, amountWon, dailyLimitWon }) {
    return toWalletId === null
      ? { $case: "placeHold", value: { walletId: fromWalletId, toAddress, amountWon, dailyLimitWon } }
      : { $case: "transfer", value: { fromWalletId, toWalletId, amountWon, dailyLimitWon } };
  },

  async record(tx, posted, facts) {
    const transfers = posted.map(({ operation, entry }): Transfer => {
      const { input } = operation;
      const at = entry.postedAt!;
      return {
        orgId: operation.orgId,
        transferId: operation.operationId,
        status: input.toWalletId === null ? "PENDING" : "COMPLETED",
        fromWalletId: input.fromWalletId,
        toWalletAddress: input.toAddress,
        toWalletId: input.toWalletId,
        amountWon: won(BigInt(input.amountWon)),
        memo: input.memo,
        failureReason: null,
        version: 1n,
        createdAt: at,
        updatedAt: at,
      };
    });
    insertTransfers(tx, transfers);
    return transfers.map((made, index) => {
      const message = transferMessage(made, facts.network);
      const told = made.status === "PENDING" ? transferHeld : transferCompleted;
      return {
        outcome: { $case: "transfer", value: message },
        event: told(made, message, posted[index]!.operation),
      };
    });
  },
};
