import { z } from "zod";
import {
  requirePresent,
  paymentCancellationJson,
  paymentJson,
  paymentRefundJson,
  restoredJson,
} from "@wonrail/kit/records";
import { enumValue } from "@wonrail/kit/grpc/client";
import { PaymentStatus } from "@wonrail/proto/payment/v1/payment";
import { type Clients } from "../clients";
import { listFilter, toPageRequest, toPagination } from "./pagination";
import { executeCommand } from "./executeCommand";
import { changeOf, notes, referenceFilter, responseNotes, updated, updatesMetadata } from "./notes";
import { type Handler, operation } from "./operation";
import {
  amountOf,
  responseId,
  idFilter,
  idOf,
  listQuery,
  moneyFilters,
  order,
  pageOf,
  queryMomentOf,
  settlement,
  timestamp,
  won,
} from "./schemas";

const MIN_PAYMENT_WON = 100;

const restoredFields = {
  incentive: won("KRW returned to the INCENTIVE wallet."),
  normal: won("KRW returned to the NORMAL wallet."),
};
const restored = z.strictObject(restoredFields).meta({ id: "RestoredAmounts" });
const incentiveClawedBack = won("The part of the accrual that was taken from the INCENTIVE wallet, in KRW.");
const keptFromNormal = won(
  "The part of the accrual that was spent already and is deducted from the amount returned to NORMAL, in KRW.",
);

const paymentCancellation = z
  .strictObject({
    cancelId: responseId("The cancellation's id."),
    settlement,
    restored,
    incentiveClawedBack,
    keptFromNormal,
    ...responseNotes,
    createdAt: timestamp("When the payment was cancelled."),
  })
  .meta({
    id: "PaymentCancellation",
    description:
      "The cancellation of a payment. Its `settlement` is that of the returned money, PENDING at " +
      "first: read the payment again to follow it.",
  });

const paymentRefund = z
  .strictObject({
    refundId: responseId("This refund's id."),
    amount: won("The refunded part of the payment, in KRW."),
    restored,
    incentiveClawedBack,
    keptFromNormal,
    ...responseNotes,
    settlement,
    createdAt: timestamp("When the part was refunded."),
  })
  .meta({
    id: "PaymentRefund",
    description:
      "A refund of a part of a payment. `amount` is `restored.normal` + `restored.incentive` + " +
      "`keptFromNormal`. Its `settlement` is that of the returned money, PENDING at first: read the " +
      "payment again to follow it.",
  });

const status = z.enum(["PAID", "PARTIALLY_REFUNDED", "REFUNDED", "CANCELLED"]);

const payment = z
  .strictObject({
    paymentId: responseId("The payment's id."),
    status: status.meta({
      description:
        "REFUNDED when refunds returned the whole amount. CANCELLED when it was cancelled at once.",
    }),
    payerWalletId: responseId("The wallet of the payer that the request named."),
    receiverWalletId: responseId("The receiver's wallet."),
    amount: won("The amount of the payment, in KRW."),
    breakdown: z
      .strictObject({
        government: won("Paid from the GOVERNMENT wallet, in KRW."),
        incentive: won("Paid from the INCENTIVE wallet, in KRW."),
        normal: won("Paid from the NORMAL wallet, in KRW."),
      })
      .meta({ description: "The parts that the payer's wallets paid." }),
    incentiveAccrued: won("The incentive granted on the part paid from the NORMAL wallet, in KRW."),
    refundedAmount: won("The sum of the payment's refunds, in KRW. 0 for a CANCELLED payment."),
    ...responseNotes,
    settlement,
    // Inlined, because the document would make a nullable reference both an object and null.
    cancellation: z
      .strictObject(paymentCancellation.shape)
      .nullable()
      .meta({ description: "The cancellation; null unless the payment is CANCELLED." }),
    createdAt: timestamp("When the payment was made."),
  })
  .meta({
    id: "Payment",
    description:
      "A payment. `settlement` is that of the payment itself, also after money was returned; the " +
      "cancellation and each refund have their own.",
  });

const paymentWithRefunds = payment
  .extend({
    refunds: z.array(paymentRefund).meta({
      description:
        "The refunds of the payment, oldest first. Of more than 100 only the newest; the receiver's " +
        "transactions of type PAYMENT_CANCEL have all.",
    }),
  })
  .meta({
    id: "PaymentWithRefunds",
    description: "A payment with its refunds. Each refund has a settlement of its own.",
  });

export const createPayment = operation({
  id: "createPayment",
  tag: "Payments",
  summary: "Pay from a user's wallets to another wallet",
  description:
    "Uses the payer's wallets in the order GOVERNMENT, INCENTIVE, NORMAL; the GOVERNMENT part is 0 in " +
    "this version. Incentive is granted only on the part paid from NORMAL, and not while the payer's " +
    "INCENTIVE wallet is deactivated. A payer without an INCENTIVE wallet gets one, which stays when " +
    "the payment is refused.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      payerWalletId: idOf(
        "wal",
        "WAL_002",
        "Any wallet of the payer. The payment uses all ACTIVE wallets of its user.",
      ),
      receiverWalletId: idOf("wal", "WAL_002", "The receiver's wallet: a NORMAL wallet of another user."),
      amount: amountOf("The amount of the payment, in KRW.", MIN_PAYMENT_WON, "PAY_002"),
      incentiveAmount: amountOf(
        "The part that the INCENTIVE wallet pays, in KRW. null or omitted: as much as its balance and " +
          "the amount allow. 0: nothing. A number: exactly that much, or PAY_006.",
        0,
      )
        .nullable()
        .optional(),
      ...notes,
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
    "Cancels the whole payment, once. The payer's wallets get back what each paid, and the accrual is " +
    "clawed back. PAY_008 means that a part was refunded: refund the rest. PAY_001 means that the " +
    "available balance of the receiver's wallet is lower than the payment. WAL_004 names a " +
    "deactivated wallet of the payment; the operator of this service can reactivate it. A payment can be cancelled for at least two months; then its month is archived " +
    "and PAY_007 is answered. `settlement`, here and in `cancellation`, is the cancellation's own and " +
    "PENDING at first; read the payment for the payment's own.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({ paymentId: idOf("pay", "PAY_004", "The payment to cancel."), ...notes })
    .meta({ id: "CancelPayment" }),
  status: 200,
  data: payment
    .extend({
      cancelId: responseId("This cancellation's id."),
      cancellation: paymentCancellation,
      restored,
      incentiveClawedBack,
      keptFromNormal,
    })
    .meta({ id: "CancelledPayment" }),
  errors: ["WAL_004", "WAL_005", "PAY_001", "PAY_003", "PAY_004", "PAY_007", "PAY_008"],
});

export const refundPayment = operation({
  id: "refundPayment",
  tag: "Payments",
  summary: "Refund a part of a payment",
  description:
    "Returns a part of a payment, any number of times up to its amount. The money goes back in the " +
    "reverse order of the payment: first what NORMAL paid, then INCENTIVE, then GOVERNMENT. The " +
    "accrual on the returned NORMAL part is clawed back. The payer keeps the accrual on the rest of " +
    "the NORMAL part, rounded down, so all parts together are exactly a cancellation. PAY_009 means " +
    "that less remains. PAY_001, WAL_004 and PAY_007 mean what they mean for a cancellation. " +
    "`settlement`, here and in `refund`, is the refund's own and PENDING at first; read the payment " +
    "for the payment's own.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      paymentId: idOf("pay", "PAY_004", "The payment to refund."),
      amount: amountOf("The part to refund, in KRW."),
      ...notes,
    })
    .meta({ id: "RefundPayment" }),
  status: 200,
  data: payment
    .extend({ refundId: responseId("This refund's id."), refund: paymentRefund })
    .meta({ id: "RefundedPayment" }),
  errors: ["WAL_004", "WAL_005", "PAY_001", "PAY_003", "PAY_004", "PAY_007", "PAY_009"],
});

export const getPayment = operation({
  id: "getPayment",
  tag: "Payments",
  summary: "Read a payment",
  description: "Returns one payment with its refunds and, when it is cancelled, its cancellation.",
  access: "full",
  params: z.strictObject({ paymentId: idOf("pay", "PAY_004", "The payment's id.") }),
  status: 200,
  data: paymentWithRefunds,
  errors: ["PAY_004"],
});

export const updatePayment = operation({
  ...updatesMetadata,
  id: "updatePayment",
  tag: "Payments",
  summary: "Change a payment's metadata",
  params: z.strictObject({ paymentId: idOf("pay", "PAY_004", "The payment's id.") }),
  data: payment,
  errors: ["PAY_004"],
});

export const updatePaymentCancellation = operation({
  ...updatesMetadata,
  id: "updatePaymentCancellation",
  tag: "Payments",
  summary: "Change the metadata of a payment's cancellation",
  params: z.strictObject({ cancelId: idOf("pcl", "PAY_004", "The cancellation's id.") }),
  data: paymentCancellation,
  errors: ["PAY_004"],
});

export const updatePaymentRefund = operation({
  ...updatesMetadata,
  id: "updatePaymentRefund",
  tag: "Payments",
  summary: "Change the metadata of a payment's refund",
  params: z.strictObject({ refundId: idOf("prf", "PAY_004", "The refund's id.") }),
  data: paymentRefund,
  errors: ["PAY_004"],
});

export const listPayments = operation({
  id: "listPayments",
  tag: "Payments",
  summary: "List payments",
  description: "Returns a page of the organisation's payments, optionally those of one wallet.",
  access: "full",
  query: listQuery({
    walletId: idFilter(
      "wal",
      "Only payments whose payerWalletId or receiverWalletId is this wallet. Amounts that a payment " +
        "took from the payer's other wallets are in those wallets' transactions.",
    ).optional(),
    reference: referenceFilter,
    status: status.optional().meta({ description: "Only payments with this status." }),
    ...moneyFilters,
    from: queryMomentOf("Only payments requested at or after this time.").optional(),
    to: queryMomentOf(
      "Only payments requested before this time. Must not be earlier than `from`.",
    ).optional(),
    order,
  }),
  status: 200,
  data: pageOf(payment).meta({ id: "PaymentPage" }),
  errors: [],
});

export function createPaymentWith(clients: Clients): Handler<typeof createPayment> {
  return async ({ body }, call) => {
    const { amount, incentiveAmount, metadata = {}, ...same } = body;
    const incentiveAmountWon = incentiveAmount == null ? undefined : String(incentiveAmount);
    const pay = { ...same, amountWon: String(amount), incentiveAmountWon, metadata };
    const { value, replayed } = await executeCommand(clients, call, {
      body: { ...body, incentiveAmount: incentiveAmount ?? undefined },
      command: { $case: "pay", value: pay },
      expect: "payment",
    });
    return { data: paymentJson(value), replayed };
  };
}

export function cancelPaymentWith(clients: Clients): Handler<typeof cancelPayment> {
  return async ({ body }, call) => {
    const { paymentId, memo, reference, metadata = {} } = body;
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "cancelPayment", value: { paymentId, memo, reference, metadata } },
      expect: "cancelledPayment",
    });
    const cancelled = requirePresent(value.cancellation);
    const cancellation = paymentCancellationJson(cancelled);
    const { cancelId } = cancellation;
    return { data: { ...paymentJson(value), cancelId, cancellation, ...restoredJson(cancelled) }, replayed };
  };
}

export function refundPaymentWith(clients: Clients): Handler<typeof refundPayment> {
  return async ({ body }, call) => {
    const { paymentId, amount, memo, reference, metadata = {} } = body;
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: {
        $case: "refundPayment",
        value: { paymentId, amountWon: String(amount), memo, reference, metadata },
      },
      expect: "refundedPayment",
    });
    const refund = paymentRefundJson(requirePresent(value.refund));
    const { refundId } = refund;
    return { data: { ...paymentJson(requirePresent(value.payment)), refundId, refund }, replayed };
  };
}

export function getPaymentWith({ payment }: Clients): Handler<typeof getPayment> {
  return async ({ params: { paymentId } }, { principal: { orgId } }) => {
    const found = await payment.getPayment({ orgId, paymentId }, { retry: true });
    return {
      data: { ...paymentJson(requirePresent(found.payment)), refunds: found.refunds.map(paymentRefundJson) },
    };
  };
}

export function updatePaymentWith({ payment }: Clients): Handler<typeof updatePayment> {
  return async ({ params: { paymentId: id }, body }, { principal: { orgId } }) => {
    const { object } = await payment.updateMetadata({ orgId, id, ...changeOf(body) });
    return { data: paymentJson(updated(object, "payment")) };
  };
}

export function updatePaymentCancellationWith({
  payment,
}: Clients): Handler<typeof updatePaymentCancellation> {
  return async ({ params: { cancelId: id }, body }, { principal: { orgId } }) => {
    const { object } = await payment.updateMetadata({ orgId, id, ...changeOf(body) });
    return { data: paymentCancellationJson(updated(object, "paymentCancellation")) };
  };
}

export function updatePaymentRefundWith({ payment }: Clients): Handler<typeof updatePaymentRefund> {
  return async ({ params: { refundId: id }, body }, { principal: { orgId } }) => {
    const { object } = await payment.updateMetadata({ orgId, id, ...changeOf(body) });
    return { data: paymentRefundJson(updated(object, "paymentRefund")) };
  };
}

export function listPaymentsWith({ payment }: Clients): Handler<typeof listPayments> {
  return async ({ query }, { principal: { orgId } }) => {
    const { walletId, status } = query;
    const asked = {
      ...{ orgId, walletId, filter: listFilter(query), page: toPageRequest(query) },
      status: status && enumValue(PaymentStatus, status),
    };
    const { payments, page } = await payment.listPayments(asked, { retry: true });
    return { data: { items: payments.map(paymentJson), pagination: toPagination(query, page) } };
  };
}
