import { type Clients } from "../clients";
import { type Principals } from "../middleware/principals";
import * as allTransactions from "./allTransactions";
import * as charges from "./charges";
import * as credentials from "./credentials";
import * as events from "./events";
import * as keys from "./keys";
import * as reports from "./reports/reports";
import { route, type Route } from "./operation";
import * as payments from "./payments";
import * as payouts from "./payouts";
import * as sandbox from "./sandbox";
import { withScope } from "./scopes";
import * as health from "./health";
import * as transactions from "./transactions";
import * as transfers from "./transfers";
import * as wallets from "./wallets";
import * as webhooks from "./webhooks";
import * as x402 from "./x402";

export interface RouteDeps {
  clients: Clients;
  principals: Pick<Principals, "forgetKey" | "forgetOrganisation">;
}

/**
 * Every path of the public contract with its handler. A literal path precedes a parameter that
 * would match it.
 */
export function routes({ clients, principals }: RouteDeps): Route[] {
  // prettier-ignore
  const table = [
    ...credentialRoutes(clients.auth, principals),

    route("POST", "/api/wallets/transfer", transfers.createTransfer, transfers.createTransferWith(clients)),
    route("GET", "/api/wallets/transfer", transfers.listTransfers, transfers.listTransfersWith(clients)),
    route("GET", "/api/wallets/transfer/:transferId", transfers.getTransfer, transfers.getTransferWith(clients)),
    route("PATCH", "/api/wallets/transfer/:transferId", transfers.updateTransfer, transfers.updateTransferWith(clients)),

    route("POST", "/api/payouts", payouts.createPayout, payouts.createPayoutWith(clients)),
    route("GET", "/api/payouts", payouts.listPayouts, payouts.listPayoutsWith(clients)),
    route("GET", "/api/payouts/:payoutId", payouts.getPayout, payouts.getPayoutWith(clients)),
    route("GET", "/api/payouts/:payoutId/rows", payouts.listPayoutRows, payouts.listPayoutRowsWith(clients)),

    route("POST", "/api/wallets/charge", charges.createCharge, charges.createChargeWith(clients)),
    route("GET", "/api/wallets/charge", charges.listCharges, charges.listChargesWith(clients)),
    route("POST", "/api/wallets/charge/cancel", charges.cancelCharge, charges.cancelChargeWith(clients)),
    route("PATCH", "/api/wallets/charge/cancel/:cancelId", charges.updateChargeCancellation, charges.updateChargeCancellationWith(clients)),
    route("POST", "/api/wallets/charge/refund", charges.refundWallet, charges.refundWalletWith(clients)),
    route("GET", "/api/wallets/charge/refund", charges.listRefunds, charges.listRefundsWith(clients)),
    route("GET", "/api/wallets/charge/refund/:refundId", charges.getRefund, charges.getRefundWith(clients)),
    route("PATCH", "/api/wallets/charge/refund/:refundId", charges.updateRefund, charges.updateRefundWith(clients)),
    route("GET", "/api/wallets/charge/:chargeId", charges.getCharge, charges.getChargeWith(clients)),
    route("PATCH", "/api/wallets/charge/:chargeId", charges.updateCharge, charges.updateChargeWith(clients)),

    route("POST", "/api/wallets/payment", payments.createPayment, payments.createPaymentWith(clients)),
    route("GET", "/api/wallets/payment", payments.listPayments, payments.listPaymentsWith(clients)),
    route("POST", "/api/wallets/payment/cancel", payments.cancelPayment, payments.cancelPaymentWith(clients)),
    route("POST", "/api/wallets/payment/refund", payments.refundPayment, payments.refundPaymentWith(clients)),
    route("PATCH", "/api/wallets/payment/refund/:refundId", payments.updatePaymentRefund, payments.updatePaymentRefundWith(clients)),
    route("PATCH", "/api/wallets/payment/cancel/:cancelId",
      payments.updatePaymentCancellation, payments.updatePaymentCancellationWith(clients)),
    route("GET", "/api/wallets/payment/:paymentId", payments.getPayment, payments.getPaymentWith(clients)),
    route("PATCH", "/api/wallets/payment/:paymentId", payments.updatePayment, payments.updatePaymentWith(clients)),

    route("POST", "/api/wallets", wallets.createWallet, wallets.createWalletWith(clients)),
    route("GET", "/api/wallets", wallets.listWallets, wallets.listWalletsWith(clients)),
    route("GET", "/api/wallets/:walletId", wallets.getWallet, wallets.getWalletWith(clients)),
    route("PATCH", "/api/wallets/:walletId", wallets.updateWallet, wallets.updateWalletWith(clients)),
    route("POST", "/api/wallets/:walletId/deactivate", wallets.deactivateWallet, wallets.deactivateWalletWith(clients)),
    route("GET", "/api/wallets/:walletId/transactions", wallets.listWalletTransactions, wallets.listWalletTransactionsWith(clients)),
    route("GET", "/api/wallets/:walletId/balance", allTransactions.getBalance, allTransactions.getBalanceWith(clients)),
    route("GET", "/api/transactions", allTransactions.listAllTransactions, allTransactions.listAllTransactionsWith(clients)),

    route("GET", "/api/reports/statements", reports.readStatements, reports.readStatementsWith(clients)),
    route("GET", "/api/reports/settlements", reports.readSettlements, reports.readSettlementsWith(clients)),

    ...recordRoutes(clients),
    ...x402Routes(clients),
    ...sandboxRoutes(clients, principals),
    ...eventRoutes(clients),
    route("GET", "/healthz", health.checkHealth, health.answerHealth),
    // GET /api/events/stream is answered by middleware/eventStream.ts: see events.STREAM_ROUTE.
    // GET /api/openapi.json, /api/postman.json and /api/docs are pages about this list, not operations of it: see pages.ts.
  ];
  return table.map(withScope);
}

function recordRoutes(clients: Clients) {
  // prettier-ignore
  return [
    route("POST", "/api/transaction", transactions.createTransaction, transactions.createTransactionWith(clients)),
    route("GET", "/api/transaction", transactions.listTransactions, transactions.listTransactionsWith(clients)),
    route("GET", "/api/transaction/:id", transactions.getTransaction, transactions.getTransactionWith(clients)),
    route("PATCH", "/api/transaction/:id", transactions.updateTransaction, transactions.updateTransactionWith(clients)),
    route("PATCH", "/api/transaction/:id/status", transactions.updateTransactionStatus, transactions.updateTransactionStatusWith(clients)),
    route("PATCH", "/api/transaction/:id/schedule",
      transactions.updateTransactionSchedule, transactions.updateTransactionScheduleWith(clients)),
  ];
}

function x402Routes(clients: Clients) {
  // prettier-ignore
  return [
    route("GET", "/x402/supported", x402.getX402Support, x402.getX402SupportWith(clients)),
    route("POST", "/x402/verify", x402.verifyX402Payment, x402.verifyX402PaymentWith(clients)),
    route("POST", "/x402/settle", x402.settleX402Payment, x402.settleX402PaymentWith(clients)),
  ];
}

/** Only on a test network: app.ts leaves them out elsewhere. */
function sandboxRoutes(clients: Clients, principals: RouteDeps["principals"]) {
  // prettier-ignore
  return [
    route("POST", "/api/sandbox/deposits", sandbox.createSandboxDeposit, sandbox.createSandboxDepositWith(clients)),
    route("POST", "/api/sandbox/settlements/:id/fail",
      sandbox.failSandboxSettlement, sandbox.orderSettlementWith(clients, "FAIL")),
    route("POST", "/api/sandbox/settlements/:id/hold",
      sandbox.holdSandboxSettlement, sandbox.orderSettlementWith(clients, "HOLD")),
    route("POST", "/api/sandbox/settlements/:id/release",
      sandbox.releaseSandboxSettlement, sandbox.orderSettlementWith(clients, "RELEASE")),
    route("POST", "/api/sandbox/keys/:keyId/expire", sandbox.expireSandboxKey, sandbox.expireSandboxKeyWith(clients, principals)),
    route("POST", "/api/sandbox/clocks", sandbox.openSandboxClock, sandbox.openSandboxClockWith(clients)),
    route("POST", "/api/sandbox/clocks/advance", sandbox.advanceSandboxClock, sandbox.advanceSandboxClockWith(clients, principals)),
  ];
}

function credentialRoutes(auth: Clients["auth"], principals: RouteDeps["principals"]) {
  // prettier-ignore
  return [
    route("POST", "/api/wallet-auth/refresh", credentials.refreshKey, credentials.refreshKeyWith(auth)),
    route("DELETE", "/api/wallet-auth/api-key", credentials.revokeKey, credentials.revokeKeyWith(auth, principals)),
    route("GET", "/api/wallet-auth/session", credentials.getSession, credentials.getSessionWith(auth)),
    route("POST", "/api/wallet-auth/keys", keys.issueKey, keys.issueKeyWith(auth)),
    route("GET", "/api/wallet-auth/keys", keys.listKeys, keys.listKeysWith(auth)),
    route("GET", "/api/wallet-auth/keys/:keyId", keys.getKey, keys.getKeyWith(auth)),
    route("POST", "/api/wallet-auth/rotate-secret", keys.rotateSecretKey, keys.rotateSecretKeyWith(auth)),
    route("DELETE", "/api/wallet-auth/keys/:keyId", keys.deleteKey, keys.deleteKeyWith(auth, principals)),
  ];
}

function eventRoutes(clients: Clients) {
  // prettier-ignore
  return [
    route("GET", "/api/events", events.listEvents, events.listEventsWith(clients)),
    route("GET", "/api/events/:eventId", events.getEvent, events.getEventWith(clients)),

    route("POST", "/api/webhooks", webhooks.createWebhook, webhooks.createWebhookWith(clients)),
    route("GET", "/api/webhooks", webhooks.listWebhooks, webhooks.listWebhooksWith(clients)),
    route("GET", "/api/webhooks/:webhookId", webhooks.getWebhook, webhooks.getWebhookWith(clients)),
    route("PATCH", "/api/webhooks/:webhookId", webhooks.updateWebhook, webhooks.updateWebhookWith(clients)),
    route("DELETE", "/api/webhooks/:webhookId", webhooks.deleteWebhook, webhooks.deleteWebhookWith(clients)),
    route("POST", "/api/webhooks/:webhookId/rotate-secret", webhooks.rotateWebhookSecret, webhooks.rotateWebhookSecretWith(clients)),
    route("POST", "/api/webhooks/:webhookId/test", webhooks.testWebhook, webhooks.testWebhookWith(clients)),
    route("POST", "/api/webhooks/:webhookId/replay", webhooks.replayWebhook, webhooks.replayWebhookWith(clients)),
    route("GET", "/api/webhooks/:webhookId/deliveries", webhooks.listDeliveries, webhooks.listDeliveriesWith(clients)),
  ];
}
