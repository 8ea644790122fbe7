import { z } from "zod";
import { enumName, enumValue } from "@wonrail/kit/grpc/client";
import { isUserId, USER_ID_FORM } from "@wonrail/kit/contract/userId";
import { Direction, type WalletTransaction } from "@wonrail/proto/payment/v1/payment";
import { WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { isoTime, requirePresent, settlementJson, walletJson, wonJson } from "@wonrail/kit/records";
import { type Clients } from "../clients";
import { keyedBy, retriedBy } from "./bodyHash";
import { toPageRequest, toPagination } from "./pagination";
import { metadataOf, responseMetadata, responseNotes } from "./notes";
import { type Handler, operation } from "./operation";
import {
  responseId,
  idOf,
  listQuery,
  order,
  queryMomentOf,
  pageOf,
  settlement,
  textOf,
  timestamp,
  walletStatus,
  walletType,
  won,
} from "./schemas";

const MAX_METADATA_PAIRS = 5;

const userId = textOf(
  128,
  "The user's identifier in your system, in Unicode NFC. Control, zero-width and bidirectional " +
    "characters and spaces at the ends are refused.",
  1,
).refine(isUserId, { message: USER_ID_FORM });

const metadata = metadataOf(MAX_METADATA_PAIRS);

const wallet = z
  .strictObject({
    walletId: responseId("The wallet's id."),
    userId: z.string().meta({ description: "The user's identifier in your system." }),
    walletType,
    walletAddress: z.string().meta({
      description: "The wallet's blockchain address, with EIP-55 checksum.",
    }),
    balance: won("The wallet's balance, in KRW."),
    availableBalance: won("The balance less the holds of transfers under way, in KRW."),
    status: walletStatus,
    metadata: responseMetadata,
    createdAt: timestamp("When the wallet was created."),
    updatedAt: timestamp("When the wallet last changed."),
  })
  .meta({ id: "Wallet", description: "A wallet of one of your users." });

/** A new wallet is empty and unchanged. */
const createdWallet = wallet.omit({ availableBalance: true, updatedAt: true }).meta({
  id: "CreatedWallet",
  description: "A wallet as it was created. Its availableBalance and updatedAt are left out.",
});

export const walletPath = z.strictObject({ walletId: idOf("wal", "WAL_002", "The wallet's id.") });

export const createWallet = operation({
  id: "createWallet",
  tag: "Wallets",
  summary: "Create a wallet for a user",
  description:
    "A user has at most one wallet of each type. A second one is refused with WAL_001, and " +
    "`details.walletId` names the first, also when it is deactivated.",
  access: "full",
  idempotent: true,
  quota: "WALLETS",
  body: z.strictObject({ userId, walletType, metadata: metadata.optional() }).meta({ id: "CreateWallet" }),
  status: 201,
  data: createdWallet,
  errors: ["WAL_001"],
});

export const getWallet = operation({
  id: "getWallet",
  tag: "Wallets",
  summary: "Read a wallet",
  description: "Returns one wallet with its balances.",
  access: "full",
  params: walletPath,
  status: 200,
  data: wallet,
  errors: ["WAL_002"],
});

export const listWallets = operation({
  id: "listWallets",
  tag: "Wallets",
  summary: "List wallets, newest first",
  description: "Returns a page of the organisation's wallets, optionally those of one user, type or status.",
  access: "full",
  query: listQuery({
    userId: userId.optional(),
    walletType: walletType.optional(),
    status: walletStatus.optional(),
  }),
  status: 200,
  data: pageOf(wallet).meta({ id: "WalletPage" }),
  errors: [],
});

export const updateWallet = operation({
  id: "updateWallet",
  tag: "Wallets",
  summary: "Replace a wallet's metadata",
  description: "Replaces all pairs of the wallet's metadata.",
  access: "full",
  whenUnknown: "This operation has no Idempotency-Key: send the request again. A repetition changes nothing.",
  params: walletPath,
  body: z.strictObject({ metadata }).meta({ id: "UpdateWallet" }),
  status: 200,
  data: wallet,
  errors: ["WAL_002", "WAL_004"],
});

export const deactivateWallet = operation({
  id: "deactivateWallet",
  tag: "Wallets",
  summary: "Deactivate a wallet",
  description:
    "Refused with WAL_003 while the wallet holds money, holds of transfers under way included. " +
    "Settlements under way continue, and a scheduled transaction from the wallet becomes FAILED when " +
    "it is due. Afterwards the wallet can only be read; everything else is WAL_004. Tokens that are " +
    "sent to its address are still credited; the operator of this service can reactivate the " +
    "wallet so that they can be moved.",
  access: "full",
  idempotent: true,
  params: walletPath,
  status: 200,
  data: wallet,
  errors: ["WAL_002", "WAL_003", "WAL_004"],
});

const WALLET_TRANSACTION_TYPES = [
  "TRANSFER",
  "CHARGE",
  "CHARGE_CANCEL",
  "PAYMENT",
  "PAYMENT_CANCEL",
  "REFUND",
  "INCENTIVE",
  "INCENTIVE_USE",
  "INCENTIVE_CANCEL",
  "INCENTIVE_USE_CANCEL",
] as const;

export type WalletTransactionType = (typeof WALLET_TRANSACTION_TYPES)[number];

export const transactionStatus = z.enum([
  "COMPLETED",
  "CHARGED",
  "PARTIALLY_CANCELLED",
  "CANCELLED",
  "PAID",
  "PARTIALLY_REFUNDED",
  "REFUNDED",
]);

export const walletTransactionType = z
  .enum(WALLET_TRANSACTION_TYPES)
  .meta({ description: "What moved the balance." });

export const walletTransaction = z
  .strictObject({
    walletId: responseId("The wallet whose balance moved."),
    transactionId: z.string().meta({
      description: "The id of this entry of the list. It is not used by other operations.",
    }),
    type: walletTransactionType,
    direction: z.enum(["IN", "OUT"]).meta({ description: "IN raises the balance, OUT lowers it." }),
    amount: won("The amount that moved, in KRW."),
    balanceAfter: won("The wallet's balance afterwards, in KRW."),
    counterparty: z.string().nullable().meta({
      description:
        "The other wallet's id or the outside address. null for minted and burnt money. Of several wallets of a payer the first that paid.",
    }),
    memo: responseNotes.memo,
    reference: responseNotes.reference,
    relatedId: responseId(
      "The id of the charge, refund, payment, transfer or deposit. All entries of one payment have the same.",
    ),
    status: transactionStatus.meta({
      description:
        "The status of the charge or payment in `relatedId`, as it is now. COMPLETED for transfers, " +
        "refunds and deposits: an outside transfer that is PENDING or FAILED moves no balance.",
    }),
    cancelId: z.string().nullable().meta({
      description:
        "The id of the cancellation (ccl_… or pcl_…) or refund (prf_…) when the entry takes a charge or payment back; otherwise null.",
    }),
    settlement,
    createdAt: timestamp("When the entry was posted."),
  })
  .meta({ id: "WalletTransaction", description: "One movement of a wallet's balance." });

export const transactionTypes = z
  .string()
  .transform((text) => text.split(",") as WalletTransactionType[])
  .refine((types) => types.every((type) => WALLET_TRANSACTION_TYPES.includes(type)), {
    message: `must be one or more of ${WALLET_TRANSACTION_TYPES.join(", ")}, separated by commas`,
  })
  .meta({
    description: `One or more types, separated by commas: ${WALLET_TRANSACTION_TYPES.join(", ")}.`,
    type: "string",
  });

export const listWalletTransactions = operation({
  id: "listWalletTransactions",
  tag: "Wallets",
  summary: "List the movements of a wallet's balance",
  description:
    "Contains deposits, too: tokens from an outside address are credited once their block is final, " +
    "as an entry of type TRANSFER and direction IN whose relatedId begins with `opn_`. Deposits are " +
    "in no list of transfers. Only whole KRW are credited. The counterparty of a deposit can be null, " +
    "and its settlement PENDING, for a moment.",
  access: "full",
  params: walletPath,
  query: listQuery({
    type: transactionTypes.optional(),
    from: queryMomentOf("Only entries at or after this time.").optional(),
    to: queryMomentOf("Only entries before this time. Must not be earlier than `from`.").optional(),
    order,
  }),
  status: 200,
  data: pageOf(walletTransaction).meta({ id: "WalletTransactionPage" }),
  errors: ["WAL_002"],
});

export function createWalletWith({ wallet: service }: Clients): Handler<typeof createWallet> {
  return async ({ body }, call) => {
    const { principal, repeatOnly } = call;
    const { userId, walletType, metadata = {} } = body;
    const key = keyedBy(call, { userId, walletType, metadata });
    const wanted = { userId, walletType: enumValue(WalletType, walletType), metadata };
    const { wallet: made, replayed } = await service.createWallet(
      { orgId: principal.orgId, ...wanted, ...key, repeatOnly },
      retriedBy(call),
    );
    const { availableBalance: _, updatedAt: __, ...data } = walletJson(made);
    return { data, replayed };
  };
}

export function getWalletWith({ wallet: service }: Clients): Handler<typeof getWallet> {
  return async ({ params: { walletId } }, { principal: { orgId } }) => ({
    data: walletJson((await service.getWallet({ orgId, walletId }, { retry: true })).wallet),
  });
}

export function listWalletsWith({ wallet: service }: Clients): Handler<typeof listWallets> {
  return async ({ query }, { principal: { orgId } }) => {
    const asked = {
      orgId,
      userId: query.userId,
      walletType: query.walletType ? enumValue(WalletType, query.walletType) : WalletType.UNSPECIFIED,
      status: query.status ? enumValue(WalletStatus, query.status) : WalletStatus.UNSPECIFIED,
      page: toPageRequest(query),
    };
    const { wallets, page } = await service.listWallets(asked, { retry: true });
    return { data: { items: wallets.map(walletJson), pagination: toPagination(query, page) } };
  };
}

export function updateWalletWith({ wallet: service }: Clients): Handler<typeof updateWallet> {
  return async ({ params: { walletId }, body: { metadata } }, { principal: { orgId } }) => ({
    data: walletJson((await service.updateWallet({ orgId, walletId, metadata })).wallet),
  });
}

export function deactivateWalletWith({ wallet: service }: Clients): Handler<typeof deactivateWallet> {
  return async ({ params }, call) => {
    const { orgId } = call.principal;
    const asked = { orgId, ...params, ...keyedBy(call, params) };
    const { wallet, replayed } = await service.deactivateWallet(asked, retriedBy(call));
    return { data: walletJson(wallet), replayed };
  };
}

export function listWalletTransactionsWith({ payment }: Clients): Handler<typeof listWalletTransactions> {
  return async ({ params: { walletId }, query }, { principal: { orgId } }) => {
    const { type: types = [], from, to } = query;
    const asked = { orgId, walletId, types, from, to, page: toPageRequest(query) };
    const { transactions, page } = await payment.listWalletTransactions(asked, { retry: true });
    return { data: { items: transactions.map(transactionJson), pagination: toPagination(query, page) } };
  };
}

export function transactionJson(of: WalletTransaction) {
  return {
    walletId: of.walletId,
    transactionId: of.transactionId,
    type: of.type as WalletTransactionType,
    direction: requirePresent(enumName(Direction, of.direction)),
    amount: wonJson(of.amountWon),
    balanceAfter: wonJson(of.balanceAfterWon),
    counterparty: of.counterparty ?? null,
    memo: of.memo ?? null,
    reference: of.reference ?? null,
    relatedId: of.relatedId,
    status: of.status as z.output<typeof transactionStatus>,
    cancelId: of.cancelId ?? null,
    settlement: settlementJson(of.settlement),
    createdAt: isoTime(of.createdAt),
  };
}
