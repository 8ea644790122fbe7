import { assert, DomainError } from "@wonrail/kit/contract/errors";
import { toErrorDetail } from "@wonrail/kit/grpc/server";
import { won } from "@wonrail/kit/contract/money";
import { type CancelPaymentInput } from "../../domain/operation";
import { checkMemo, checkPaymentId } from "../../domain/rules";
import { paymentCancelled } from "../../events";
import { cancelledPaymentMessage } from "../../messages";
import * as payments from "../../store/payments";
import { findSettlements } from "../../store/settlements";
import { type Flow, type Posted, type Recorded, TooEarlyError } from "./flow";
import { recordInOrder } from "./recordInOrder";

/** The whole payment goes back to the wallets that it came from, once. */
export const cancelPayment: Flow<"cancelPayment", CancelPaymentInput> = {
  async prepare(_facts, _orgId, { paymentId, memo }) {
    const noted = checkMemo(memo);
    checkPaymentId(paymentId);
    return { kind: "CANCEL_PAYMENT", paymentId, memo: noted };
  },

  intent: ({ paymentId }) => ({ $case: "cancelPayment", value: { paymentRequestId: paymentId } }),

  relatedId: ({ paymentId }) => paymentId,

  async record(tx, posted, facts) {
    return recordInOrder(posted, ({ operation }) => operation.input.paymentId, recordOne);

    async function recordOne({ operation, entry }: Posted<CancelPaymentInput>): Promise<Recorded> {
      const { orgId, operationId, input } = operation;
      assert(
        entry.result?.$case === "paymentCancelled",
        `${operationId} was not posted as a payment's cancellation`,
      );
      const restored = entry.result.value;
      const amounts = {
        restoredIncentiveWon: won(BigInt(restored.restoredIncentiveWon)),
        restoredNormalWon: won(BigInt(restored.restoredNormalWon)),
        clawedBackWon: won(BigInt(restored.incentiveClawedBackWon)),
        keptWon: won(BigInt(restored.keptFromNormalWon)),
      };
      const cancel = { cancelId: operationId, memo: input.memo, createdAt: entry.postedAt!, amounts };
      const [payment, settlements] = await Promise.all([
        payments.cancelPayment(tx, orgId, input.paymentId, cancel),
        // Its own way begins with this answer.
        findSettlements(tx, orgId, [input.paymentId]),
      ]);
      if (!payment) throw new TooEarlyError();
      const message = cancelledPaymentMessage(payment, cancel, facts.network, settlements);
      return {
        outcome: { $case: "cancelledPayment", value: message },
        event: paymentCancelled(payment, message, operation),
      };
    }
  },

  async refusal(tx, { orgId, input: { paymentId } }, refused) {
    if (refused.code !== "PAY_004") return refused;
    const payment = await payments.findPayment(tx, orgId, paymentId);
    if (!payment) return refused;
    const isCancelled = payment.status === "CANCELLED";
    return toErrorDetail(
      isCancelled ? new DomainError("PAY_003", { paymentId }) : new DomainError("PAY_007"),
    );
  },
};
