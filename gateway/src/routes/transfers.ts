import { z } from "zod";
import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { enumValue } from "@wonrail/kit/grpc/client";
import { requirePresent, transferJson } from "@wonrail/kit/records";
import { TransferStatus } from "@wonrail/proto/payment/v1/payment";
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
  refusedAs,
  settlement,
  timestamp,
  won,
} from "./schemas";

const status = z.enum(["PENDING", "COMPLETED", "FAILED"]);

const transfer = z
  .strictObject({
    transferId: responseId("The transfer's id."),
    status: status.meta({
      description:
        "COMPLETED at once between two of your wallets. To an outside address PENDING until its block " +
        "is final, then COMPLETED or FAILED. `settlement` can be CONFIRMED a moment earlier.",
    }),
    fromWalletId: responseId("The sending wallet."),
    toWalletAddress: z.string().meta({ description: "The destination address." }),
    toWalletId: z.string().nullable().meta({
      description: "The id of the destination when it is one of your wallets; otherwise null.",
    }),
    amount: won("The amount of the transfer, in KRW."),
    ...responseNotes,
    settlement,
    failureReason: z
      .string()
      .nullable()
      .meta({
        description:
          "The reason when the status is FAILED, such as `expired`, `signer_out_of_gas` or the name of " +
          "a contract error. For people and for support; otherwise null.",
      }),
    createdAt: timestamp("When the transfer was requested."),
  })
  .meta({ id: "Transfer", description: "A transfer from a NORMAL wallet to an address." });

export const createTransfer = operation({
  id: "createTransfer",
  tag: "Transfers",
  summary: "Transfer from a NORMAL wallet to an address",
  description:
    "Uses ERC-3009 transferWithAuthorization: the user pays no gas. A transfer to an outside address " +
    "holds the amount until its block is final, and gives it back when the transfer is FAILED. A " +
    "wallet sends at most `dailyTransferLimit` of your session in a day of Asia/Seoul, transfers to " +
    "your own wallets included; TRF_003 tells how much was used. FAILED transfers do not count. " +
    "TRF_002 is answered for a malformed address, a wrong checksum, the zero address, the wallet's " +
    "own address, the token and the payment manager. TRF_004 is answered when a wallet is not NORMAL; " +
    "`details.walletId` names it.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      fromWalletId: idOf("wal", "WAL_002", "The sending wallet. It must be a NORMAL wallet."),
      toWalletAddress: z
        .string()
        .refine((text) => ADDRESS_FORM.test(text), refusedAs("TRF_002", "must be 0x and 40 hex digits"))
        .meta({
          description:
            "The destination: the address of a NORMAL wallet or an outside address. An address in " +
            "mixed case must have a valid EIP-55 checksum. One of your wallets of another type is " +
            "refused with TRF_004; `details.walletId` names it.",
          pattern: ADDRESS_FORM.source,
        }),
      amount: amountOf("The amount to transfer, in KRW."),
      ...notes,
    })
    .meta({ id: "CreateTransfer" }),
  status: 201,
  data: transfer,
  errors: ["WAL_002", "WAL_004", "WAL_005", "TRF_001", "TRF_002", "TRF_003", "TRF_004"],
});

export const getTransfer = operation({
  id: "getTransfer",
  tag: "Transfers",
  summary: "Read a transfer",
  description: "Returns one transfer.",
  access: "full",
  params: z.strictObject({ transferId: idOf("trf", "TRF_005", "The transfer's id.") }),
  status: 200,
  data: transfer,
  errors: ["TRF_005"],
});

export const updateTransfer = operation({
  ...updatesMetadata,
  id: "updateTransfer",
  tag: "Transfers",
  summary: "Change a transfer's metadata",
  params: z.strictObject({ transferId: idOf("trf", "TRF_005", "The transfer's id.") }),
  data: transfer,
  errors: ["TRF_005"],
});

export const listTransfers = operation({
  id: "listTransfers",
  tag: "Transfers",
  summary: "List transfers",
  description:
    "Sorted by the time of the request, which the ids contain. A scheduled transfer is sorted by its " +
    "scheduled time, also when it was sent later. `GET /api/wallets/{walletId}/transactions` sorts by " +
    "the time the balance changed.",
  access: "full",
  query: listQuery({
    walletId: idFilter("wal", "Only transfers of this wallet.").optional(),
    reference: referenceFilter,
    status: status.optional().meta({ description: "Only transfers with this status." }),
    ...moneyFilters,
    from: queryMomentOf("Only transfers requested at or after this time.").optional(),
    to: queryMomentOf(
      "Only transfers requested before this time. Must not be earlier than `from`.",
    ).optional(),
    order,
  }),
  status: 200,
  data: pageOf(transfer).meta({ id: "TransferPage" }),
  errors: [],
});

export function createTransferWith(clients: Clients): Handler<typeof createTransfer> {
  return async ({ body }, call) => {
    const { amount, metadata = {}, ...same } = body;
    const command = { ...same, amountWon: String(amount), metadata };
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "transfer", value: command },
      expect: "transfer",
    });
    return { data: transferJson(value), replayed };
  };
}

export function getTransferWith({ payment }: Clients): Handler<typeof getTransfer> {
  return async ({ params: { transferId } }, { principal: { orgId } }) => ({
    data: transferJson(
      requirePresent((await payment.getTransfer({ orgId, transferId }, { retry: true })).transfer),
    ),
  });
}

export function updateTransferWith({ payment }: Clients): Handler<typeof updateTransfer> {
  return async ({ params: { transferId: id }, body }, { principal: { orgId } }) => {
    const { object } = await payment.updateMetadata({ orgId, id, ...changeOf(body) });
    return { data: transferJson(updated(object, "transfer")) };
  };
}

export function listTransfersWith({ payment }: Clients): Handler<typeof listTransfers> {
  return async ({ query }, { principal: { orgId } }) => {
    const { walletId, status } = query;
    const asked = {
      ...{ orgId, walletId, filter: listFilter(query), page: toPageRequest(query) },
      status: status && enumValue(TransferStatus, status),
    };
    const { transfers, page } = await payment.listTransfers(asked, { retry: true });
    return { data: { items: transfers.map(transferJson), pagination: toPagination(query, page) } };
  };
}
