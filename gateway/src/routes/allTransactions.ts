import { z } from "zod";
import { isoTime, wonJson } from "@wonrail/kit/records";
import { type Clients } from "../clients";
import { listFilter, toPageRequest, toPagination } from "./pagination";
import { referenceFilter } from "./notes";
import { type Handler, operation } from "./operation";
import { listQuery, moneyFilters, order, pageOf, queryMomentOf, responseId, timestamp, won } from "./schemas";
import {
  transactionJson,
  transactionStatus,
  transactionTypes,
  walletPath,
  walletTransaction,
} from "./wallets";

export const listAllTransactions = operation({
  id: "listAllTransactions",
  tag: "Wallets",
  summary: "List the movements of all wallets",
  description:
    "All ten types over the whole organisation, refunds and deposits included, sorted by the order in " +
    "which they were posted. A payment has an entry for each wallet that it moved. A movement is listed " +
    "as soon as its request is answered. `totalCount` is always null.",
  access: "full",
  query: listQuery({
    type: transactionTypes.optional(),
    reference: referenceFilter,
    status: transactionStatus.optional().meta({
      description:
        "Only movements of charges or payments that have this status now. It can lag by under a second.",
    }),
    ...moneyFilters,
    from: queryMomentOf("Only entries at or after this time.").optional(),
    to: queryMomentOf("Only entries before this time. Must not be earlier than `from`.").optional(),
    order,
  }),
  status: 200,
  data: pageOf(walletTransaction).meta({ id: "TransactionPage" }),
  errors: [],
});

export const getBalance = operation({
  id: "getBalance",
  tag: "Wallets",
  summary: "Read the balance of a wallet at a time",
  description:
    "The balance after all entries that were posted before `at`. It equals `balanceAfter` of the newest " +
    "of these entries, and is 0 before the first. A time within the last seconds can still get entries. " +
    "REQ_001 is answered for a time in the future, and for one whose month is archived.",
  access: "full",
  params: walletPath,
  query: z.strictObject({ at: queryMomentOf("The time. Omitted: now.").optional() }),
  status: 200,
  data: z
    .strictObject({
      walletId: responseId("The wallet's id."),
      at: timestamp("The time of the balance."),
      balance: won("The balance at this time, in KRW."),
    })
    .meta({ id: "BalanceAtTime" }),
  errors: ["WAL_002"],
});

export function listAllTransactionsWith({ payment }: Clients): Handler<typeof listAllTransactions> {
  return async ({ query }, { principal: { orgId } }) => {
    const { type: types = [], status } = query;
    const asked = { orgId, types, status, filter: listFilter(query), page: toPageRequest(query) };
    const { transactions, page } = await payment.listTransactions(asked, { retry: true });
    return { data: { items: transactions.map(transactionJson), pagination: toPagination(query, page) } };
  };
}

export function getBalanceWith({ payment }: Clients): Handler<typeof getBalance> {
  return async ({ params: { walletId }, query }, { principal: { orgId } }) => {
    const { balanceWon, at } = await payment.getBalanceAt({ orgId, walletId, at: query.at }, { retry: true });
    return { data: { walletId, at: isoTime(at), balance: wonJson(balanceWon) } };
  };
}
