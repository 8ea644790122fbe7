import { type Clients } from "../clients";
import { type Principals } from "../middleware/principals";
import * as charges from "./charges";
import * as credentials from "./credentials";
import { notBuilt, route, type Route } from "./operation";
import * as payments from "./payments";
import * as service from "./service";
import * as transactions from "./transactions";
import * as transfers from "./transfers";
import * as wallets from "./wallets";

export interface RouteDeps {
  clients: Clients;
  principals: Pick<Principals, "forgetKey">;
}

/** Every path of the public contract and what answers it. A literal path stands before the parameter that would match it too. */
export function routes({ clients: { auth }, principals }: RouteDeps): Route[] {
  return [
    route("POST", "/api/wallet-auth/refresh", credentials.refreshKey, credentials.refreshKeyWith(auth)),
    route(
      "DELETE",
      "/api/wallet-auth/api-key",
      credentials.revokeKey,
      credentials.revokeKeyWith(auth, principals),
    ),
    route("GET", "/api/wallet-auth/session", credentials.getSession, credentials.getSessionWith(auth)),

    route("POST", "/api/wallets/transfer", transfers.createTransfer, notBuilt),
    route("GET", "/api/wallets/transfer", transfers.listTransfers, notBuilt),
    route("GET", "/api/wallets/transfer/:transferId", transfers.getTransfer, notBuilt),

    route("POST", "/api/wallets/charge", charges.createCharge, notBuilt),
    route("GET", "/api/wallets/charge", charges.listCharges, notBuilt),
    route("POST", "/api/wallets/charge/cancel", charges.cancelCharge, notBuilt),
    route("POST", "/api/wallets/charge/refund", charges.refundWallet, notBuilt),
    route("GET", "/api/wallets/charge/:chargeId", charges.getCharge, notBuilt),

    route("POST", "/api/wallets/payment", payments.createPayment, notBuilt),
    route("GET", "/api/wallets/payment", payments.listPayments, notBuilt),
    route("POST", "/api/wallets/payment/cancel", payments.cancelPayment, notBuilt),
    route("GET", "/api/wallets/payment/:paymentId", payments.getPayment, notBuilt),

    route("POST", "/api/wallets", wallets.createWallet, notBuilt),
    route("GET", "/api/wallets", wallets.listWallets, notBuilt),
    route("GET", "/api/wallets/:walletId", wallets.getWallet, notBuilt),
    route("PATCH", "/api/wallets/:walletId", wallets.updateWallet, notBuilt),
    route("POST", "/api/wallets/:walletId/deactivate", wallets.deactivateWallet, notBuilt),
    route("GET", "/api/wallets/:walletId/transactions", wallets.listWalletTransactions, notBuilt),

    route("POST", "/api/transaction", transactions.createTransaction, notBuilt),
    route("GET", "/api/transaction", transactions.listTransactions, notBuilt),
    route("GET", "/api/transaction/:id", transactions.getTransaction, notBuilt),
    route("PATCH", "/api/transaction/:id/status", transactions.updateTransactionStatus, notBuilt),
    route("PATCH", "/api/transaction/:id/schedule", transactions.updateTransactionSchedule, notBuilt),

    route("GET", "/healthz", service.checkHealth, service.answerHealth),
    // GET /api/openapi.json and GET /api/docs are pages about this list, not operations of it: see pages.ts.
  ];
}
