import { z } from "zod";
import { enumName } from "@wonrail/kit/grpc/client";
import { type Payment, type PaymentCancellation, PaymentStatus } from "@wonrail/proto/payment/v1/payment";
import { type Clients } from "../clients";
import { cancellationOf, iso, known, pageRequest, paginationOf, settlementOf, wonOf } from "./answers";
import { executeCommand } from "./executeCommand";
import { type Handler, operation } from "./operation";
import {
  amountOf,
  cancellation,
  givenId,
  idFilter,
  idOf,
  listQuery,
  memo,
  memoGiven,
  pageOf,
  settlement,
  timestamp,
  won,
} from "./schemas";

const MIN_PAYMENT_WON = 100;

const restored = z
  .strictObject({
    incentive: won("Back to the INCENTIVE wallet."),
    normal: won("Back to the NORMAL wallet."),
  })
  .meta({ id: "RestoredAmounts" });
const incentiveClawedBack = won("Of the accrual, taken from the INCENTIVE wallet.");
const keptFromNormal = won("Of the accrual, no longer there and so kept from the NORMAL part.");

const paymentCancellation = cancellation
  .extend({
    restored,
    incentiveClawedBack,
    keptFromNormal,
    memo: memoGiven,
    createdAt: timestamp("When it was made."),
  })
  .meta({
    id: "PaymentCancellation",
    description:
      "The cancellation of a payment and what it did. `settlement` is that of the way back, PENDING at first; read the payment again to follow.",
  });

const payment = z
  .strictObject({
    paymentId: givenId("The payment's id."),
    status: z.enum(["PAID", "CANCELLED"]),
    payerWalletId: givenId("The payer's wallet that was named."),
    receiverWalletId: givenId("The receiver."),
    amount: won("How much, in KRW."),
    breakdown: z
      .strictObject({
        government: won("From the GOVERNMENT wallet."),
        incentive: won("From the INCENTIVE wallet."),
        normal: won("From the NORMAL wallet."),
      })
      .meta({ description: "What each of the payer's wallets paid." }),
    incentiveAccrued: won("Granted on the part paid from the NORMAL wallet."),
    memo: memoGiven,
    settlement,
    // A union, since the document would have a nullable reference be an object and null at once.
    cancellation: z
      .union([paymentCancellation, z.null()])
      .meta({ description: "null unless the payment is CANCELLED." }),
    createdAt: timestamp("When it was made."),
  })
  .meta({
    id: "Payment",
    description:
      "`settlement` is the payment's own, also when it is CANCELLED; that of the way back is in `cancellation`.",
  });

export const createPayment = operation({
  id: "createPayment",
  tag: "Payments",
  summary: "Pay from a user's wallets to another wallet",
  description:
    "Draws on the payer's INCENTIVE, then NORMAL wallet; the part of GOVERNMENT is 0 for now. Incentive is accrued only on the part paid from NORMAL, and none while the payer's INCENTIVE wallet is deactivated. A payer without an INCENTIVE wallet gets one; when the payment is then refused, such as with PAY_001, it may be there, empty.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      payerWalletId: idOf("wal", "WAL_002", "One wallet of the payer."),
      receiverWalletId: idOf("wal", "WAL_002", "The receiver, a NORMAL wallet of another user."),
      amount: amountOf("How much, in KRW.", MIN_PAYMENT_WON, "PAY_002"),
      incentiveAmount: amountOf(
        "How much of it the INCENTIVE wallet pays. null, or left out: its balance, as far as the amount goes. 0: nothing. A number: just that much, or PAY_006.",
        0,
      )
        .nullable()
        .optional(),
      memo,
    })
    .meta({ id: "CreatePayment" }),
  status: 201,
  data: payment,
  errors: ["WAL_002", "WAL_004", "WAL_005", "PAY_001", "PAY_002", "PAY_005", "PAY_006"],
});

export const cancelPayment = operation({
  id: "cancelPayment",
  tag: "Payments",
  summary: "Cancel a payment",
  description:
    "Whole and once: the payer's wallets get back what each of them paid, and the accrual is clawed back. PAY_001 says here that what is available in the receiver's NORMAL wallet is less than the payment: what is held for a transfer on its way does not count. WAL_004 names a wallet of the payment that is deactivated, and stays until the operator of the service has made it ACTIVE again. `settlement`, here and in `cancellation`, is the cancellation's own, PENDING; read the payment for the payment's own. A payment can be cancelled for at least two months; when its month has left the books for the archive, that is refused with PAY_007.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({ paymentId: idOf("pay", "PAY_004", "The payment."), memo })
    .meta({ id: "CancelPayment" }),
  status: 200,
  data: payment
    .extend({
      cancelId: givenId("This cancellation's id."),
      cancellation: paymentCancellation,
      restored,
      incentiveClawedBack,
      keptFromNormal,
    })
    .meta({ id: "CancelledPayment" }),
  errors: ["WAL_004", "WAL_005", "PAY_001", "PAY_003", "PAY_004", "PAY_007"],
});

export const getPayment = operation({
  id: "getPayment",
  tag: "Payments",
  summary: "Read a payment",
  access: "full",
  params: z.strictObject({ paymentId: idOf("pay", "PAY_004", "The payment's id.") }),
  status: 200,
  data: payment,
  errors: ["PAY_004"],
});

export const listPayments = operation({
  id: "listPayments",
  tag: "Payments",
  summary: "List payments, newest first",
  access: "full",
  query: listQuery({
    walletId: idFilter(
      "wal",
      "Only those that name this wallet, as the payer's or as the receiver. What a payment drew on the payer's other wallets is in their transactions.",
    ).optional(),
  }),
  status: 200,
  data: pageOf(payment).meta({ id: "PaymentPage" }),
  errors: [],
});

export function createPaymentWith(clients: Clients): Handler<typeof createPayment> {
  return async ({ body }, call) => {
    const { payerWalletId, receiverWalletId, amount, incentiveAmount, memo } = body;
    const incentiveAmountWon = incentiveAmount == null ? undefined : String(incentiveAmount);
    const ids = { payerWalletId, receiverWalletId };
    const pay = { ...ids, amountWon: String(amount), incentiveAmountWon, memo, metadata: {} };
    const { value, replayed } = await executeCommand(clients, call, {
      body: { ...body, incentiveAmount: incentiveAmount ?? undefined },
      command: { $case: "pay", value: pay },
      expect: "payment",
    });
    return { data: paymentOf(value), replayed };
  };
}

export function cancelPaymentWith(clients: Clients): Handler<typeof cancelPayment> {
  return async ({ body }, call) => {
    const { paymentId, memo } = body;
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "cancelPayment", value: { paymentId, memo, metadata: {} } },
      expect: "cancelledPayment",
    });
    const cancelled = known(value.cancellation);
    const cancellation = paymentCancellationOf(cancelled);
    const { cancelId } = cancellation;
    return { data: { ...paymentOf(value), cancelId, cancellation, ...amountsOf(cancelled) }, replayed };
  };
}

export function getPaymentWith({ payment }: Clients): Handler<typeof getPayment> {
  return async ({ params: { paymentId } }, { principal: { orgId } }) => ({
    data: paymentOf(known((await payment.getPayment({ orgId, paymentId }, { retry: true })).payment)),
  });
}

export function listPaymentsWith({ payment }: Clients): Handler<typeof listPayments> {
  return async ({ query }, { principal: { orgId } }) => {
    const { walletId } = query;
    const asked = { orgId, walletId, page: pageRequest(query) };
    const { payments, page } = await payment.listPayments(asked, { retry: true });
    return { data: { items: payments.map(paymentOf), pagination: paginationOf(query, page) } };
  };
}

function paymentOf(of: Payment) {
  const breakdown = known(of.breakdown);
  return {
    paymentId: of.paymentId,
    status: known(enumName(PaymentStatus, of.status)),
    payerWalletId: of.payerWalletId,
    receiverWalletId: of.receiverWalletId,
    amount: wonOf(of.amountWon),
    breakdown: {
      government: wonOf(breakdown.governmentWon),
      incentive: wonOf(breakdown.incentiveWon),
      normal: wonOf(breakdown.normalWon),
    },
    incentiveAccrued: wonOf(of.incentiveAccruedWon),
    memo: of.memo ?? null,
    settlement: settlementOf(of.settlement),
    cancellation: of.cancellation === undefined ? null : paymentCancellationOf(of.cancellation),
    createdAt: iso(of.createdAt),
  };
}

function paymentCancellationOf(of: PaymentCancellation) {
  return {
    ...cancellationOf(of),
    ...amountsOf(of),
    memo: of.memo ?? null,
    createdAt: iso(of.createdAt),
  };
}

function amountsOf(amounts: PaymentCancellation) {
  return {
    restored: { incentive: wonOf(amounts.restoredIncentiveWon), normal: wonOf(amounts.restoredNormalWon) },
    incentiveClawedBack: wonOf(amounts.incentiveClawedBackWon),
    keptFromNormal: wonOf(amounts.keptFromNormalWon),
  };
}
