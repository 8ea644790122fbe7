import { z } from "zod";
import { enumName } from "@wonrail/kit/grpc/client";
import {
  type Charge,
  type ChargeCancellation,
  ChargeStatus,
  type Refund,
} from "@wonrail/proto/payment/v1/payment";
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

const MIN_CHARGE_WON = 1_000;

const charge = z
  .strictObject({
    chargeId: givenId("The charge's id."),
    status: z.enum(["CHARGED", "PARTIALLY_CANCELLED", "CANCELLED"]),
    walletId: givenId("The wallet that was charged."),
    amount: won("How much, in KRW."),
    cancelledAmount: won("How much of it is cancelled."),
    balance: won(
      "The wallet's balance right after the charge, or after its newest cancellation once it is cancelled in part.",
    ),
    cancellableUntil: timestamp("30 days after the charge."),
    memo: memoGiven,
    settlement,
    createdAt: timestamp("When it was made."),
  })
  .meta({
    id: "Charge",
    description:
      "`settlement` is the charge's own, also when it is cancelled: each cancellation has one too.",
  });

const chargeWithCancellations = charge
  .extend({
    cancellations: z
      .array(
        cancellation
          .extend({
            amount: won("How much of the charge it took back, in KRW."),
            memo: memoGiven,
            createdAt: timestamp("When it was made."),
          })
          .meta({ id: "ChargeCancellation" }),
      )
      .meta({
        description:
          "What took back parts of it, oldest first; of more than 100 the newest. The wallet's transactions of type CHARGE_CANCEL have all of them.",
      }),
  })
  .meta({
    id: "ChargeWithCancellations",
    description: "`settlement` is the charge's own, and that of each cancellation is of its way back.",
  });

const refund = z
  .strictObject({
    refundId: givenId("The refund's id."),
    walletId: givenId("The wallet that was refunded."),
    amount: won("All that was available, in KRW."),
    memo: memoGiven,
    settlement,
    createdAt: timestamp("When it was made."),
  })
  .meta({ id: "Refund" });

export const createCharge = operation({
  id: "createCharge",
  tag: "Charges",
  summary: "Charge a wallet",
  description:
    "A wallet of any type. CHG_008 when the charges of the organisation on this day of Asia/Seoul would be more than its daily charge limit.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      walletId: idOf("wal", "WAL_002", "The wallet to charge, of any type."),
      amount: amountOf("How much, in KRW.", MIN_CHARGE_WON, "CHG_001"),
      memo,
    })
    .meta({ id: "CreateCharge" }),
  status: 201,
  data: charge,
  errors: ["WAL_002", "WAL_004", "WAL_005", "CHG_001", "CHG_008"],
});

export const cancelCharge = operation({
  id: "cancelCharge",
  tag: "Charges",
  summary: "Cancel a charge, or a part of it",
  description:
    "Within 30 days of the charge, in as many parts as you like. `balance` is the balance after this call. `settlement`, here and in `cancellation`, is the cancellation's own, PENDING; read the charge for the charge's own.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      chargeId: idOf("chg", "CHG_002", "The charge."),
      amount: amountOf("How much of it; without it all that remains.").optional(),
      memo,
    })
    .meta({ id: "CancelCharge" }),
  status: 200,
  data: charge
    .extend({ cancelId: givenId("This cancellation's id."), cancellation })
    .meta({ id: "CancelledCharge" }),
  errors: ["WAL_004", "WAL_005", "CHG_002", "CHG_003", "CHG_004", "CHG_005", "CHG_006"],
});

export const refundWallet = operation({
  id: "refundWallet",
  tag: "Charges",
  summary: "Refund all that is available in a NORMAL or GOVERNMENT wallet",
  description:
    "The balance less what is held for transfers on their way, which stays. Refused with CHG_007 when nothing is available, also when all is held.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({ walletId: idOf("wal", "WAL_002", "The NORMAL or GOVERNMENT wallet."), memo })
    .meta({ id: "RefundWallet" }),
  status: 201,
  data: refund,
  errors: ["WAL_002", "WAL_004", "WAL_005", "CHG_007"],
});

export const getCharge = operation({
  id: "getCharge",
  tag: "Charges",
  summary: "Read a charge",
  access: "full",
  params: z.strictObject({ chargeId: idOf("chg", "CHG_002", "The charge's id.") }),
  status: 200,
  data: chargeWithCancellations,
  errors: ["CHG_002"],
});

export const getRefund = operation({
  id: "getRefund",
  tag: "Charges",
  summary: "Read a refund",
  access: "full",
  params: z.strictObject({ refundId: idOf("rfd", "CHG_002", "The refund's id.") }),
  status: 200,
  data: refund,
  errors: ["CHG_002"],
});

export const listCharges = operation({
  id: "listCharges",
  tag: "Charges",
  summary: "List charges, newest first",
  description: "Without their cancellations, which come with one charge.",
  access: "full",
  query: listQuery({ walletId: idFilter("wal", "Only those of this wallet.").optional() }),
  status: 200,
  data: pageOf(charge).meta({ id: "ChargePage" }),
  errors: [],
});

export function createChargeWith(clients: Clients): Handler<typeof createCharge> {
  return async ({ body }, call) => {
    const { walletId, amount, memo } = body;
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "charge", value: { walletId, amountWon: String(amount), memo, metadata: {} } },
      expect: "charge",
    });
    return { data: chargeOf(value), replayed };
  };
}

export function cancelChargeWith(clients: Clients): Handler<typeof cancelCharge> {
  return async ({ body }, call) => {
    const { chargeId, amount, memo } = body;
    const amountWon = amount === undefined ? undefined : String(amount);
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "cancelCharge", value: { chargeId, amountWon, memo, metadata: {} } },
      expect: "cancelledCharge",
    });
    const cancellation = cancellationOf(known(value.cancellation));
    const { cancelId } = cancellation;
    return { data: { ...chargeOf(known(value.charge)), cancelId, cancellation }, replayed };
  };
}

export function refundWalletWith(clients: Clients): Handler<typeof refundWallet> {
  return async ({ body }, call) => {
    const { walletId, memo } = body;
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "refund", value: { walletId, memo, metadata: {} } },
      expect: "refund",
    });
    return { data: refundOf(value), replayed };
  };
}

export function getChargeWith({ payment }: Clients): Handler<typeof getCharge> {
  return async ({ params: { chargeId } }, { principal: { orgId } }) => {
    const { charge, cancellations } = await payment.getCharge({ orgId, chargeId }, { retry: true });
    return { data: { ...chargeOf(known(charge)), cancellations: cancellations.map(chargeCancellationOf) } };
  };
}

export function getRefundWith({ payment }: Clients): Handler<typeof getRefund> {
  return async ({ params: { refundId } }, { principal: { orgId } }) => ({
    data: refundOf(known((await payment.getRefund({ orgId, refundId }, { retry: true })).refund)),
  });
}

export function listChargesWith({ payment }: Clients): Handler<typeof listCharges> {
  return async ({ query }, { principal: { orgId } }) => {
    const { walletId } = query;
    const asked = { orgId, walletId, page: pageRequest(query) };
    const { charges, page } = await payment.listCharges(asked, { retry: true });
    return { data: { items: charges.map(chargeOf), pagination: paginationOf(query, page) } };
  };
}

function chargeOf(of: Charge) {
  return {
    chargeId: of.chargeId,
    status: known(enumName(ChargeStatus, of.status)),
    walletId: of.walletId,
    amount: wonOf(of.amountWon),
    cancelledAmount: wonOf(of.cancelledAmountWon),
    balance: wonOf(of.balanceWon),
    cancellableUntil: iso(of.cancellableUntil),
    memo: of.memo ?? null,
    settlement: settlementOf(of.settlement),
    createdAt: iso(of.createdAt),
  };
}

function chargeCancellationOf(of: ChargeCancellation) {
  return {
    ...cancellationOf(of),
    amount: wonOf(of.amountWon),
    memo: of.memo ?? null,
    createdAt: iso(of.createdAt),
  };
}

function refundOf(of: Refund) {
  return {
    refundId: of.refundId,
    walletId: of.walletId,
    amount: wonOf(of.amountWon),
    memo: of.memo ?? null,
    settlement: settlementOf(of.settlement),
    createdAt: iso(of.createdAt),
  };
}
