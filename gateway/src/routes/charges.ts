import { z } from "zod";
import { chargeCancellationJson, chargeJson, requirePresent, refundJson } from "@wonrail/kit/records";
import { enumValue } from "@wonrail/kit/grpc/client";
import { ChargeStatus, type GetChargeResponse } from "@wonrail/proto/payment/v1/payment";
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

const MIN_CHARGE_WON = 1_000;

const status = z.enum(["CHARGED", "PARTIALLY_CANCELLED", "CANCELLED"]);

const charge = z
  .strictObject({
    chargeId: responseId("The charge's id."),
    status: status.meta({ description: "CANCELLED when no part remains." }),
    walletId: responseId("The charged wallet."),
    amount: won("The amount of the charge, in KRW."),
    cancelledAmount: won("The part of the amount that is cancelled, in KRW."),
    balance: won(
      "The wallet's balance after this call. A later read shows the balance after the newest cancellation, in KRW.",
    ),
    cancellableUntil: timestamp("The end of the 30 days in which the charge can be cancelled."),
    ...responseNotes,
    settlement,
    createdAt: timestamp("When the charge was made."),
  })
  .meta({
    id: "Charge",
    description:
      "A charge (top-up). `settlement` is that of the charge itself, also after it was cancelled: each cancellation has its own.",
  });

const cancellation = z
  .strictObject({
    cancelId: responseId("The cancellation's id."),
    settlement,
    amount: won("The part of the charge that was taken back, in KRW."),
    ...responseNotes,
    createdAt: timestamp("When the cancellation was made."),
  })
  .meta({
    id: "ChargeCancellation",
    description:
      "The cancellation of a charge or a part of it. Its `settlement` is that of the returned money, " +
      "PENDING at first: read the charge again to follow it.",
  });

const chargeWithCancellations = charge
  .extend({
    cancellations: z.array(cancellation).meta({
      description:
        "The cancellations of the charge, oldest first. Of more than 100 only the newest; the " +
        "wallet's transactions of type CHARGE_CANCEL have all.",
    }),
  })
  .meta({
    id: "ChargeWithCancellations",
    description: "A charge with its cancellations. Each cancellation has a settlement of its own.",
  });

const refund = z
  .strictObject({
    refundId: responseId("The refund's id."),
    walletId: responseId("The refunded wallet."),
    amount: won("The available balance that was paid out, in KRW."),
    ...responseNotes,
    settlement,
    createdAt: timestamp("When the refund was made."),
  })
  .meta({ id: "Refund", description: "A refund (cash-out) of a NORMAL or GOVERNMENT wallet." });

export const createCharge = operation({
  id: "createCharge",
  tag: "Charges",
  summary: "Charge a wallet",
  description:
    "Puts new money into a wallet of any type (top-up). CHG_008 means that the charge is over a limit. " +
    "`details.reason` says which: `max_charge` for a single charge, `daily_limit` for the " +
    "organisation's charges of this day of Asia/Seoul, or `service_limit` for the charges of all " +
    "organisations.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      walletId: idOf("wal", "WAL_002", "The wallet to charge. It can be of any type."),
      amount: amountOf("The amount to charge, in KRW.", MIN_CHARGE_WON, "CHG_001"),
      ...notes,
    })
    .meta({ id: "CreateCharge" }),
  status: 201,
  data: charge,
  errors: ["WAL_002", "WAL_004", "WAL_005", "CHG_001", "CHG_008"],
});

export const cancelCharge = operation({
  id: "cancelCharge",
  tag: "Charges",
  summary: "Cancel a charge or a part of it",
  description:
    "Takes a charge back within 30 days, in any number of parts. `balance` is the balance after this " +
    "call. `settlement`, here and in `cancellation`, is the cancellation's own and PENDING at first; " +
    "read the charge for the charge's own.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      chargeId: idOf("chg", "CHG_002", "The charge to cancel."),
      amount: amountOf("The part to cancel, in KRW. Omitted: all that remains.").optional(),
      ...notes,
    })
    .meta({ id: "CancelCharge" }),
  status: 200,
  data: charge
    .extend({ cancelId: responseId("This cancellation's id."), cancellation })
    .meta({ id: "CancelledCharge" }),
  errors: ["WAL_004", "WAL_005", "CHG_002", "CHG_003", "CHG_004", "CHG_005", "CHG_006"],
});

export const refundWallet = operation({
  id: "refundWallet",
  tag: "Charges",
  summary: "Refund the available balance of a NORMAL or GOVERNMENT wallet",
  description:
    "Pays out the available balance of the wallet (cash-out): the balance less the holds of transfers " +
    "under way. CHG_007 when nothing is available, or for an INCENTIVE wallet: cancel its charges instead.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      walletId: idOf("wal", "WAL_002", "The NORMAL or GOVERNMENT wallet to refund."),
      ...notes,
    })
    .meta({ id: "RefundWallet" }),
  status: 201,
  data: refund,
  errors: ["WAL_002", "WAL_004", "WAL_005", "CHG_007"],
});

export const getCharge = operation({
  id: "getCharge",
  tag: "Charges",
  summary: "Read a charge",
  description: "Returns one charge with its cancellations.",
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
  description: "Returns one refund.",
  access: "full",
  params: z.strictObject({ refundId: idOf("rfd", "CHG_002", "The refund's id.") }),
  status: 200,
  data: refund,
  errors: ["CHG_002"],
});

export const listCharges = operation({
  id: "listCharges",
  tag: "Charges",
  summary: "List charges",
  description:
    "Returns a page of the organisation's charges, optionally those of one wallet. Read one charge to get its cancellations.",
  access: "full",
  query: listQuery({
    walletId: idFilter("wal", "Only charges of this wallet.").optional(),
    reference: referenceFilter,
    status: status.optional().meta({ description: "Only charges with this status." }),
    ...moneyFilters,
    from: queryMomentOf("Only charges requested at or after this time.").optional(),
    to: queryMomentOf("Only charges requested before this time. Must not be earlier than `from`.").optional(),
    order,
  }),
  status: 200,
  data: pageOf(charge).meta({ id: "ChargePage" }),
  errors: [],
});

export const listRefunds = operation({
  id: "listRefunds",
  tag: "Charges",
  summary: "List refunds",
  description: "Returns a page of the organisation's refunds, optionally those of one wallet.",
  access: "full",
  query: listQuery({
    walletId: idFilter("wal", "Only refunds of this wallet.").optional(),
    reference: referenceFilter,
    ...moneyFilters,
    from: queryMomentOf("Only refunds requested at or after this time.").optional(),
    to: queryMomentOf("Only refunds requested before this time. Must not be earlier than `from`.").optional(),
    order,
  }),
  status: 200,
  data: pageOf(refund).meta({ id: "RefundPage" }),
  errors: [],
});

export const updateCharge = operation({
  ...updatesMetadata,
  id: "updateCharge",
  tag: "Charges",
  summary: "Change a charge's metadata",
  params: z.strictObject({ chargeId: idOf("chg", "CHG_002", "The charge's id.") }),
  data: chargeWithCancellations,
  errors: ["CHG_002"],
});

export const updateChargeCancellation = operation({
  ...updatesMetadata,
  id: "updateChargeCancellation",
  tag: "Charges",
  summary: "Change the metadata of a charge's cancellation",
  params: z.strictObject({ cancelId: idOf("ccl", "CHG_002", "The cancellation's id.") }),
  data: cancellation,
  errors: ["CHG_002"],
});

export const updateRefund = operation({
  ...updatesMetadata,
  id: "updateRefund",
  tag: "Charges",
  summary: "Change a refund's metadata",
  params: z.strictObject({ refundId: idOf("rfd", "CHG_002", "The refund's id.") }),
  data: refund,
  errors: ["CHG_002"],
});

export function createChargeWith(clients: Clients): Handler<typeof createCharge> {
  return async ({ body }, call) => {
    const { walletId, amount, memo, reference, metadata = {} } = body;
    const charge = { walletId, amountWon: String(amount), memo, reference, metadata };
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "charge", value: charge },
      expect: "charge",
    });
    return { data: chargeJson(value), replayed };
  };
}

export function cancelChargeWith(clients: Clients): Handler<typeof cancelCharge> {
  return async ({ body }, call) => {
    const { chargeId, amount, memo, reference, metadata = {} } = body;
    const amountWon = amount === undefined ? undefined : String(amount);
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "cancelCharge", value: { chargeId, amountWon, memo, reference, metadata } },
      expect: "cancelledCharge",
    });
    const cancellation = chargeCancellationJson(requirePresent(value.cancellation));
    const { cancelId } = cancellation;
    return { data: { ...chargeJson(requirePresent(value.charge)), cancelId, cancellation }, replayed };
  };
}

export function refundWalletWith(clients: Clients): Handler<typeof refundWallet> {
  return async ({ body }, call) => {
    const { walletId, memo, reference, metadata = {} } = body;
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "refund", value: { walletId, memo, reference, metadata } },
      expect: "refund",
    });
    return { data: refundJson(value), replayed };
  };
}

export function getChargeWith({ payment }: Clients): Handler<typeof getCharge> {
  return async ({ params: { chargeId } }, { principal: { orgId } }) => {
    return { data: withCancellations(await payment.getCharge({ orgId, chargeId }, { retry: true })) };
  };
}

function withCancellations({ charge, cancellations }: GetChargeResponse) {
  return { ...chargeJson(requirePresent(charge)), cancellations: cancellations.map(chargeCancellationJson) };
}

export function updateChargeWith({ payment }: Clients): Handler<typeof updateCharge> {
  return async ({ params: { chargeId: id }, body }, { principal: { orgId } }) => {
    const { object } = await payment.updateMetadata({ orgId, id, ...changeOf(body) });
    return { data: withCancellations(updated(object, "charge")) };
  };
}

export function updateChargeCancellationWith({ payment }: Clients): Handler<typeof updateChargeCancellation> {
  return async ({ params: { cancelId: id }, body }, { principal: { orgId } }) => {
    const { object } = await payment.updateMetadata({ orgId, id, ...changeOf(body) });
    return { data: chargeCancellationJson(updated(object, "chargeCancellation")) };
  };
}

export function updateRefundWith({ payment }: Clients): Handler<typeof updateRefund> {
  return async ({ params: { refundId: id }, body }, { principal: { orgId } }) => {
    const { object } = await payment.updateMetadata({ orgId, id, ...changeOf(body) });
    return { data: refundJson(updated(object, "refund")) };
  };
}

export function getRefundWith({ payment }: Clients): Handler<typeof getRefund> {
  return async ({ params: { refundId } }, { principal: { orgId } }) => ({
    data: refundJson(requirePresent((await payment.getRefund({ orgId, refundId }, { retry: true })).refund)),
  });
}

export function listChargesWith({ payment }: Clients): Handler<typeof listCharges> {
  return async ({ query }, { principal: { orgId } }) => {
    const { walletId, status } = query;
    const asked = {
      ...{ orgId, walletId, filter: listFilter(query), page: toPageRequest(query) },
      status: status && enumValue(ChargeStatus, status),
    };
    const { charges, page } = await payment.listCharges(asked, { retry: true });
    return { data: { items: charges.map(chargeJson), pagination: toPagination(query, page) } };
  };
}

export function listRefundsWith({ payment }: Clients): Handler<typeof listRefunds> {
  return async ({ query }, { principal: { orgId } }) => {
    const asked = {
      ...{ orgId, walletId: query.walletId, filter: listFilter(query), page: toPageRequest(query) },
    };
    const { refunds, page } = await payment.listRefunds(asked, { retry: true });
    return { data: { items: refunds.map(refundJson), pagination: toPagination(query, page) } };
  };
}
