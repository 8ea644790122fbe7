import { type IdPrefix } from "@wonrail/kit/contract/ids";
import { parseWon } from "@wonrail/kit/contract/money";
import { type Notes } from "@wonrail/kit/contract/notes";
import { type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { type ContractAddresses, checkDestination } from "../domain/destination";
import {
  checkCharge,
  checkChargeId,
  checkNotes,
  checkPayment,
  checkPaymentId,
  checkPositive,
  checkWalletId,
} from "../domain/rules";
import { type Facts } from "./facts";

export type Command = NonNullable<message.ExecuteRequest["command"]>;
export type Intent = NonNullable<PostRequest["intent"]>;

/** The idempotency keys of one scope are apart from those of another. */
export type Scope =
  | "TRANSFER"
  | "CHARGE"
  | "CANCEL_CHARGE"
  | "REFUND"
  | "PAY"
  | "CANCEL_PAYMENT"
  | "REFUND_PAYMENT";

/** A command whose form is valid. */
export interface ReadCommand {
  scope: Scope;
  prefix: IdPrefix;
  notes: Notes;
  /** The id of the cancelled charge or payment, or of the refunded payment. Absent for other commands. */
  relatedId?: string;
  /** Builds the request to the ledger. Looks up the facts that it needs. */
  intent(facts: Facts, orgId: string): Promise<Intent>;
}

/** Checks the form of a command. Throws a refusal that needs no facts. */
export function readCommand(command: Command, contracts: ContractAddresses): ReadCommand {
  checkNotes(command.value);
  switch (command.$case) {
    case "transfer":
      return readTransfer(command.value, contracts);
    case "charge":
      return readCharge(command.value);
    case "cancelCharge":
      return readCancelCharge(command.value);
    case "refund":
      return readRefund(command.value);
    case "pay":
      return readPay(command.value);
    case "cancelPayment":
      return readCancelPayment(command.value);
    case "refundPayment":
      return readRefundPayment(command.value);
  }
}

/** Inside the organisation the ledger posts at once. For an outside address it holds the amount until the chain is final. */
function readTransfer(command: message.TransferCommand, contracts: ContractAddresses): ReadCommand {
  const { fromWalletId, amountWon } = command;
  checkPositive(parseWon(amountWon, "amount"), "amount");
  const toAddress = checkDestination(command.toWalletAddress, contracts);
  checkWalletId(fromWalletId);
  return {
    ...{ scope: "TRANSFER", prefix: "trf", notes: command },
    async intent(facts, orgId) {
      const [toWalletId, { dailyLimitWon }] = await Promise.all([
        facts.walletAt(orgId, toAddress),
        facts.policyOf(orgId),
      ]);
      const amounts = { amountWon, dailyLimitWon, toAddress };
      return toWalletId === null
        ? { $case: "placeHold", value: { walletId: fromWalletId, ...amounts } }
        : { $case: "transfer", value: { fromWalletId, toWalletId, ...amounts } };
    },
  };
}

function readCharge(command: message.ChargeCommand): ReadCommand {
  const { walletId, amountWon } = command;
  checkCharge(parseWon(amountWon, "amount"));
  checkWalletId(walletId);
  return {
    ...{ scope: "CHARGE", prefix: "chg", notes: command },
    async intent(facts, orgId) {
      const { dailyChargeLimitWon: dailyLimitWon, maxChargeWon } = await facts.policyOf(orgId);
      return { $case: "charge", value: { walletId, amountWon, dailyLimitWon, maxChargeWon } };
    },
  };
}

function readCancelCharge(command: message.CancelChargeCommand): ReadCommand {
  const { chargeId, amountWon } = command;
  if (amountWon !== undefined) checkPositive(parseWon(amountWon, "amount"), "amount");
  checkChargeId(chargeId);
  return {
    ...{ scope: "CANCEL_CHARGE", prefix: "ccl", notes: command, relatedId: chargeId },
    intent: async () => ({ $case: "cancelCharge", value: { chargeRequestId: chargeId, amountWon } }),
  };
}

function readRefund(command: message.RefundCommand): ReadCommand {
  const { walletId } = command;
  checkWalletId(walletId);
  return {
    ...{ scope: "REFUND", prefix: "rfd", notes: command },
    intent: async () => ({ $case: "refund", value: { walletId } }),
  };
}

function readPay(command: message.PayCommand): ReadCommand {
  const { payerWalletId, receiverWalletId, amountWon, incentiveAmountWon } = command;
  checkPayment(parseWon(amountWon, "amount"));
  const namedIncentive =
    incentiveAmountWon === undefined ? 0n : parseWon(incentiveAmountWon, "incentiveAmount");
  checkWalletId(payerWalletId);
  checkWalletId(receiverWalletId);
  return {
    ...{ scope: "PAY", prefix: "pay", notes: command },
    async intent(facts, orgId) {
      const { incentiveRateBps: accrualRateBps } = await facts.policyOf(orgId);
      // A payer who names an incentive amount has the wallet already, or the ledger refuses.
      if (accrualRateBps > 0 && namedIncentive === 0n)
        await facts.ensureIncentiveWallet(orgId, payerWalletId, receiverWalletId);
      const ids = { payerWalletId, receiverWalletId };
      return { $case: "payment", value: { ...ids, amountWon, incentiveAmountWon, accrualRateBps } };
    },
  };
}

function readCancelPayment(command: message.CancelPaymentCommand): ReadCommand {
  const { paymentId } = command;
  checkPaymentId(paymentId);
  return {
    ...{ scope: "CANCEL_PAYMENT", prefix: "pcl", notes: command, relatedId: paymentId },
    intent: async () => ({ $case: "cancelPayment", value: { paymentRequestId: paymentId } }),
  };
}

function readRefundPayment(command: message.RefundPaymentCommand): ReadCommand {
  const { paymentId, amountWon } = command;
  checkPositive(parseWon(amountWon, "amount"), "amount");
  checkPaymentId(paymentId);
  return {
    ...{ scope: "REFUND_PAYMENT", prefix: "prf", notes: command, relatedId: paymentId },
    intent: async () => ({ $case: "refundPayment", value: { paymentRequestId: paymentId, amountWon } }),
  };
}
