import { assert } from "@wonrail/kit/contract/errors";
import { parseWon, won } from "@wonrail/kit/contract/money";
import { type PayInput } from "../../domain/operation";
import { type Payment } from "../../domain/payment";
import { checkMemo, checkPayment, checkWalletId } from "../../domain/rules";
import { paymentCompleted } from "../../events";
import { paymentMessage } from "../../messages";
import { insertPayments } from "../../store/payments";
import { type Flow } from "./flow";

/** A composite payment. The ledger splits it over the payer's wallets under the same locks that post it. */
export const pay: Flow<"pay", PayInput> = {
  async prepare(facts, orgId, { payerWalletId, receiverWalletId, amountWon, incentiveAmountWon, memo }) {
    checkPayment(parseWon(amountWon, "amount"));
    const asked = incentiveAmountWon === undefined ? 0n : parseWon(incentiveAmountWon, "incentiveAmount");
    const noted = checkMemo(memo);
    checkWalletId(payerWalletId);
    checkWalletId(receiverWalletId);
    const { incentiveRateBps } = await facts.policyOf(orgId);
    // Who pays with an INCENTIVE balance that he names has a wallet for it, or is refused.
    if (incentiveRateBps > 0 && asked === 0n)
      await facts.ensureIncentiveWallet(orgId, payerWalletId, receiverWalletId);
    return {
      kind: "PAY",
      payerWalletId,
      receiverWalletId,
      amountWon,
      incentiveAmountWon: incentiveAmountWon ?? null,
      accrualRateBps: incentiveRateBps,
      memo: noted,
    };
  },

  intent: ({ payerWalletId, receiverWalletId, amountWon, incentiveAmountWon, accrualRateBps }) => ({
    $case: "payment",
    value: {
      payerWalletId,
      receiverWalletId,
      amountWon,
      incentiveAmountWon: incentiveAmountWon ?? undefined,
      accrualRateBps,
    },
  }),

  /** A stand-by may have taken over without the payer's INCENTIVE wallet. */
  async refusal(_tx, { orgId, input: { payerWalletId } }, refused, facts) {
    if (refused.code === "WAL_002") facts.forgetIncentiveWallet(orgId, payerWalletId);
    return refused;
  },

  async record(tx, posted, facts) {
    const payments = posted.map(({ operation, entry }): Payment => {
      const { input } = operation;
      assert(entry.result?.$case === "paymentMade", `${operation.operationId} was not posted as a payment`);
      const split = entry.result.value;
      const at = entry.postedAt!;
      return {
        orgId: operation.orgId,
        paymentId: operation.operationId,
        status: "PAID",
        payerWalletId: input.payerWalletId,
        receiverWalletId: input.receiverWalletId,
        amountWon: won(BigInt(input.amountWon)),
        governmentWon: won(BigInt(split.governmentWon)),
        incentiveWon: won(BigInt(split.incentiveWon)),
        normalWon: won(BigInt(split.normalWon)),
        accruedWon: won(BigInt(split.incentiveAccruedWon)),
        memo: input.memo,
        cancel: null,
        version: 1n,
        createdAt: at,
        updatedAt: at,
      };
    });
    insertPayments(tx, payments);
    return payments.map((made, index) => {
      const message = paymentMessage(made, facts.network);
      return {
        outcome: { $case: "payment", value: message },
        event: paymentCompleted(made, message, posted[index]!.operation),
      };
    });
  },
};
