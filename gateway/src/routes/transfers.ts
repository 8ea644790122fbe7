import { z } from "zod";
import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { enumName } from "@wonrail/kit/grpc/client";
import { type Transfer, TransferStatus } from "@wonrail/proto/payment/v1/payment";
import { type Clients } from "../clients";
import { iso, known, pageRequest, paginationOf, settlementOf, wonOf } from "./answers";
import { executeCommand } from "./executeCommand";
import { type Handler, operation } from "./operation";
import {
  amountOf,
  givenId,
  idFilter,
  idOf,
  listQuery,
  memo,
  memoGiven,
  pageOf,
  refusedAs,
  settlement,
  timestamp,
  won,
} from "./schemas";

const transfer = z
  .strictObject({
    transferId: givenId("The transfer's id."),
    status: z.enum(["PENDING", "COMPLETED", "FAILED"]).meta({
      description:
        "Between two of your wallets COMPLETED at once; to an outside address PENDING until the chain is final. It says what became of the transfer; `settlement` may be CONFIRMED a moment before.",
    }),
    fromWalletId: givenId("The source."),
    toWalletAddress: z.string(),
    toWalletId: z.string().nullable().meta({
      description: "The destination when it is one of your own wallets.",
    }),
    amount: won("How much, in KRW."),
    memo: memoGiven,
    settlement,
    failureReason: z.string().nullable().meta({
      description:
        "Why it FAILED, as the chain or the service said it last, such as `expired`, `signer_out_of_gas` or the name of a contract's error: for people to read, and for support.",
    }),
    createdAt: timestamp("When it was made."),
  })
  .meta({ id: "Transfer" });

export const createTransfer = operation({
  id: "createTransfer",
  tag: "Transfers",
  summary: "Transfer from a NORMAL wallet to an address",
  description:
    "Uses ERC-3009 transferWithAuthorization: the user pays no gas. To an outside address the amount is held until the chain is final, and given back when it FAILED. What a wallet sends in a day of Asia/Seoul, to your own wallets too, is at most `dailyTransferLimit` of your session: beyond it TRF_003 says how much was used, and what FAILED on that day is given back. TRF_001: less is available than that, as what is held does not count. TRF_002: no address, a wrong checksum, the zero address, the wallet's own, the token's or the payment manager's. TRF_004: not a NORMAL wallet; `details.walletId` names which.",
  access: "full",
  idempotent: true,
  quota: "MONEY_OPERATIONS",
  body: z
    .strictObject({
      fromWalletId: idOf("wal", "WAL_002", "The source, a NORMAL wallet."),
      toWalletAddress: z
        .string()
        .refine((text) => ADDRESS_FORM.test(text), refusedAs("TRF_002", "must be 0x and 40 hex digits"))
        .meta({
          description:
            "The destination: a NORMAL wallet, or an address outside. A mixed-case address must have a valid EIP-55 checksum. Your own wallet of another type is refused with TRF_004, and `details.walletId` names it.",
          pattern: ADDRESS_FORM.source,
        }),
      amount: amountOf("How much, in KRW."),
      memo,
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
  access: "full",
  params: z.strictObject({ transferId: idOf("trf", "TRF_005", "The transfer's id.") }),
  status: 200,
  data: transfer,
  errors: ["TRF_005"],
});

export const listTransfers = operation({
  id: "listTransfers",
  tag: "Transfers",
  summary: "List transfers, newest first",
  description:
    "In the order of their ids, which have the time of the request in them. One that was scheduled stands where its time was, also when it was made later: `GET /api/wallets/{walletId}/transactions` has it where it moved the balance.",
  access: "full",
  query: listQuery({ walletId: idFilter("wal", "Only those of this wallet.").optional() }),
  status: 200,
  data: pageOf(transfer).meta({ id: "TransferPage" }),
  errors: [],
});

export function createTransferWith(clients: Clients): Handler<typeof createTransfer> {
  return async ({ body }, call) => {
    const { fromWalletId, toWalletAddress, amount, memo } = body;
    const command = { fromWalletId, toWalletAddress, amountWon: String(amount), memo, metadata: {} };
    const { value, replayed } = await executeCommand(clients, call, {
      body,
      command: { $case: "transfer", value: command },
      expect: "transfer",
    });
    return { data: transferOf(value), replayed };
  };
}

export function getTransferWith({ payment }: Clients): Handler<typeof getTransfer> {
  return async ({ params: { transferId } }, { principal: { orgId } }) => ({
    data: transferOf(known((await payment.getTransfer({ orgId, transferId }, { retry: true })).transfer)),
  });
}

export function listTransfersWith({ payment }: Clients): Handler<typeof listTransfers> {
  return async ({ query }, { principal: { orgId } }) => {
    const { walletId } = query;
    const asked = { orgId, walletId, page: pageRequest(query) };
    const { transfers, page } = await payment.listTransfers(asked, { retry: true });
    return { data: { items: transfers.map(transferOf), pagination: paginationOf(query, page) } };
  };
}

function transferOf(of: Transfer) {
  return {
    transferId: of.transferId,
    status: known(enumName(TransferStatus, of.status)),
    fromWalletId: of.fromWalletId,
    toWalletAddress: of.toWalletAddress,
    toWalletId: of.toWalletId ?? null,
    amount: wonOf(of.amountWon),
    memo: of.memo ?? null,
    settlement: settlementOf(of.settlement),
    failureReason: of.failureReason ?? null,
    createdAt: iso(of.createdAt),
  };
}
