import { z } from "zod";
import { enumName, enumValue } from "@wonrail/kit/grpc/client";
import { isUserId, USER_ID_FORM } from "@wonrail/kit/contract/userId";
import { Direction, type WalletTransaction } from "@wonrail/proto/payment/v1/payment";
import { type Wallet, WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type Clients } from "../clients";
import { bodyHash } from "./bodyHash";
import { iso, known, pageRequest, paginationOf, settlementOf, wonOf } from "./answers";
import { type Handler, operation } from "./operation";
import {
  givenId,
  idOf,
  listQuery,
  memoGiven,
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
  "The user's identifier in your own system, in Unicode NFC. Control, zero-width and bidirectional characters are refused, and spaces at the ends.",
  1,
).refine(isUserId, { message: USER_ID_FORM });

const MAX_METADATA_KEY_CHARACTERS = 40;

const metadata = z
  .record(textOf(MAX_METADATA_KEY_CHARACTERS, "What the pair is about.", 1), textOf(500, "What you note."))
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_PAIRS, {
    message: `must have at most ${MAX_METADATA_PAIRS} pairs`,
  })
  .meta({
    description: "Pairs of your own. `constructor`, `prototype` and `__proto__` are refused as keys.",
    maxProperties: MAX_METADATA_PAIRS,
    // What the document is made with leaves out the keys' schema.
    propertyNames: { minLength: 1, maxLength: MAX_METADATA_KEY_CHARACTERS },
  });

const wallet = z
  .strictObject({
    walletId: givenId("The wallet's id."),
    userId: z.string(),
    walletType,
    walletAddress: z.string().meta({
      description: "Its blockchain address, EIP-55 checksummed.",
    }),
    balance: won("What the wallet holds, in KRW."),
    availableBalance: won("The balance less what is held for transfers on their way."),
    status: walletStatus,
    metadata: z.record(z.string(), z.string()),
    createdAt: timestamp("When it was made."),
    updatedAt: timestamp("When it last changed."),
  })
  .meta({ id: "Wallet" });

/** A new wallet has had no time to change. */
const newWallet = wallet.omit({ availableBalance: true, updatedAt: true }).meta({ id: "NewWallet" });

const walletPath = z.strictObject({ walletId: idOf("wal", "WAL_002", "The wallet's id.") });

export const createWallet = operation({
  id: "createWallet",
  tag: "Wallets",
  summary: "Make a wallet for a user",
  description:
    "A user has one wallet of each type. A second is refused with WAL_001, and `details.walletId` names the first, also when that one is deactivated.",
  access: "full",
  idempotent: true,
  quota: "WALLETS",
  body: z.strictObject({ userId, walletType, metadata: metadata.optional() }).meta({ id: "CreateWallet" }),
  status: 201,
  data: newWallet,
  errors: ["WAL_001"],
});

export const getWallet = operation({
  id: "getWallet",
  tag: "Wallets",
  summary: "Read a wallet",
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
  access: "full",
  whenUnknown: "This one takes none: saying it twice changes nothing, so send it again.",
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
    "Refused while the wallet holds money, what is held for a transfer on its way included. Nothing else counts: what was done goes on to its settlement, and a scheduled transaction from it becomes FAILED when it is due. Afterwards everything but reading it is WAL_004. Tokens that reach its address all the same are credited to it; the operator of the service can make it ACTIVE again, so that they can be moved.",
  access: "full",
  whenUnknown: "This one takes none: send it again, and WAL_004 says that the wallet is deactivated.",
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

const walletTransaction = z
  .strictObject({
    transactionId: z.string().meta({
      description: "The line's name, one of its own for each. Nothing else is found by it.",
    }),
    type: z.enum(WALLET_TRANSACTION_TYPES),
    direction: z.enum(["IN", "OUT"]),
    amount: won("How much moved, in KRW."),
    balanceAfter: won("The wallet's balance after it."),
    counterparty: z.string().nullable().meta({
      description:
        "The other wallet's id or the outside address; null for what is minted or burnt. Of a payer's several wallets the first that paid.",
    }),
    memo: memoGiven,
    relatedId: givenId("What the line belongs to. The lines of one payment share it."),
    cancelId: z.string().nullable().meta({
      description:
        "Of a line that takes back a charge or a payment: the cancellation's id, ccl_… or pcl_…. null for any other.",
    }),
    settlement,
    createdAt: timestamp("When it was posted."),
  })
  .meta({ id: "WalletTransaction" });

const transactionTypes = z
  .string()
  .transform((text) => text.split(",") as WalletTransactionType[])
  .refine((types) => types.every((type) => WALLET_TRANSACTION_TYPES.includes(type)), {
    message: `must be one or several of ${WALLET_TRANSACTION_TYPES.join(", ")}, separated by commas`,
  })
  .meta({
    description: `One or several types, separated by commas: ${WALLET_TRANSACTION_TYPES.join(", ")}.`,
    type: "string",
  });

export const listWalletTransactions = operation({
  id: "listWalletTransactions",
  tag: "Wallets",
  summary: "List everything that moved a wallet's balance, newest first",
  description:
    "Tokens that come from an outside address are in it too: once their block is final they are a line of type TRANSFER and direction IN, whose relatedId begins with `opn_` and which no list of transfers has. Whole KRW are credited, what a token transfer has below 1 KRW is not. Such a line may be without its counterparty, and its settlement PENDING, for a moment.",
  access: "full",
  params: walletPath,
  query: listQuery({
    type: transactionTypes.optional(),
    from: queryMomentOf("Not before this moment.").optional(),
    to: queryMomentOf("Before this moment.").optional(),
  }),
  status: 200,
  data: pageOf(walletTransaction).meta({ id: "WalletTransactionPage" }),
  errors: ["WAL_002"],
});

export function createWalletWith({ wallet: service }: Clients): Handler<typeof createWallet> {
  return async ({ body }, { principal: { orgId }, idempotencyKey, repeatOnly }) => {
    const { userId, walletType, metadata = {} } = body;
    const key =
      idempotencyKey === undefined
        ? {}
        : {
            idempotencyKey,
            bodyHash: bodyHash({ userId, walletType, metadata: sorted(metadata) }),
            repeatOnly,
          };
    const type = enumValue(WalletType, walletType);
    const { wallet: made, replayed } = await service.createWallet(
      { orgId, userId, walletType: type, metadata, ...key },
      idempotencyKey === undefined ? {} : { retry: true },
    );
    const { availableBalance: _, updatedAt: __, ...data } = walletOf(made);
    return { data, replayed };
  };
}

/** The same pairs are the same request, in any order. */
function sorted(metadata: Record<string, string>): [string, string][] {
  return Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1));
}

export function getWalletWith({ wallet: service }: Clients): Handler<typeof getWallet> {
  return async ({ params: { walletId } }, { principal: { orgId } }) => ({
    data: walletOf((await service.getWallet({ orgId, walletId }, { retry: true })).wallet),
  });
}

export function listWalletsWith({ wallet: service }: Clients): Handler<typeof listWallets> {
  return async ({ query }, { principal: { orgId } }) => {
    const asked = {
      orgId,
      userId: query.userId,
      walletType: query.walletType ? enumValue(WalletType, query.walletType) : WalletType.UNSPECIFIED,
      status: query.status ? enumValue(WalletStatus, query.status) : WalletStatus.UNSPECIFIED,
      page: pageRequest(query),
    };
    const { wallets, page } = await service.listWallets(asked, { retry: true });
    return { data: { items: wallets.map(walletOf), pagination: paginationOf(query, page) } };
  };
}

export function updateWalletWith({ wallet: service }: Clients): Handler<typeof updateWallet> {
  return async ({ params: { walletId }, body: { metadata } }, { principal: { orgId } }) => ({
    data: walletOf((await service.updateWallet({ orgId, walletId, metadata })).wallet),
  });
}

export function deactivateWalletWith({ wallet: service }: Clients): Handler<typeof deactivateWallet> {
  return async ({ params: { walletId } }, { principal: { orgId } }) => ({
    data: walletOf((await service.deactivateWallet({ orgId, walletId })).wallet),
  });
}

export function listWalletTransactionsWith({ payment }: Clients): Handler<typeof listWalletTransactions> {
  return async ({ params: { walletId }, query }, { principal: { orgId } }) => {
    const { type: types = [], from, to } = query;
    const asked = { orgId, walletId, types, from, to, page: pageRequest(query) };
    const { transactions, page } = await payment.listWalletTransactions(asked, { retry: true });
    return { data: { items: transactions.map(lineOf), pagination: paginationOf(query, page) } };
  };
}

function walletOf(message: Wallet | undefined) {
  const of = known(message);
  return {
    walletId: of.walletId,
    userId: of.userId,
    walletType: known(enumName(WalletType, of.walletType)),
    walletAddress: of.walletAddress,
    balance: wonOf(of.balanceWon),
    availableBalance: wonOf(of.availableBalanceWon),
    status: known(enumName(WalletStatus, of.status)),
    metadata: of.metadata,
    createdAt: iso(of.createdAt),
    updatedAt: iso(of.updatedAt),
  };
}

function lineOf(of: WalletTransaction) {
  return {
    transactionId: of.transactionId,
    type: of.type as WalletTransactionType,
    direction: known(enumName(Direction, of.direction)),
    amount: wonOf(of.amountWon),
    balanceAfter: wonOf(of.balanceAfterWon),
    counterparty: of.counterparty ?? null,
    memo: of.memo ?? null,
    relatedId: of.relatedId,
    cancelId: of.cancelId ?? null,
    settlement: settlementOf(of.settlement),
    createdAt: iso(of.createdAt),
  };
}
