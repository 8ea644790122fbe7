import { assert } from "@wonrail/kit/contract/errors";
import { type Scope } from "@wonrail/kit/contract/scopes";
import { type Route } from "./operation";

/**
 * The scope that each operation with a key needs. Null: every key may use it, because it only
 * concerns the key itself.
 */
export const OPERATION_SCOPES: Readonly<Record<string, Scope | null>> = {
  getSession: null,
  revokeKey: null,

  issueKey: "keys:manage",
  listKeys: "keys:manage",
  getKey: "keys:manage",
  deleteKey: "keys:manage",
  rotateSecretKey: "keys:manage",

  createWallet: "wallets:write",
  updateWallet: "wallets:write",
  deactivateWallet: "wallets:write",
  listWallets: "wallets:read",
  getWallet: "wallets:read",
  listWalletTransactions: "wallets:read",
  listAllTransactions: "wallets:read",
  getBalance: "wallets:read",

  createTransfer: "transfers:write",
  updateTransfer: "transfers:write",
  listTransfers: "transfers:read",
  getTransfer: "transfers:read",

  createPayout: "transfers:write",
  listPayouts: "transfers:read",
  getPayout: "transfers:read",
  listPayoutRows: "transfers:read",

  readStatements: "wallets:read",
  readSettlements: "wallets:read",

  createCharge: "charges:write",
  cancelCharge: "charges:write",
  refundWallet: "charges:write",
  updateCharge: "charges:write",
  updateChargeCancellation: "charges:write",
  updateRefund: "charges:write",
  listCharges: "charges:read",
  getCharge: "charges:read",
  getRefund: "charges:read",
  listRefunds: "charges:read",

  createPayment: "payments:write",
  cancelPayment: "payments:write",
  refundPayment: "payments:write",
  updatePayment: "payments:write",
  updatePaymentCancellation: "payments:write",
  updatePaymentRefund: "payments:write",
  listPayments: "payments:read",
  getPayment: "payments:read",

  createTransaction: "transactions:write",
  updateTransaction: "transactions:write",
  updateTransactionStatus: "transactions:write",
  updateTransactionSchedule: "transactions:write",
  listTransactions: "transactions:read",
  getTransaction: "transactions:read",

  listEvents: "events:read",
  getEvent: "events:read",

  createWebhook: "webhooks:write",
  updateWebhook: "webhooks:write",
  deleteWebhook: "webhooks:write",
  rotateWebhookSecret: "webhooks:write",
  testWebhook: "webhooks:write",
  replayWebhook: "webhooks:write",
  listWebhooks: "webhooks:read",
  getWebhook: "webhooks:read",
  listDeliveries: "webhooks:read",

  getX402Support: "x402:read",
  verifyX402Payment: "x402:read",
  settleX402Payment: "x402:write",

  createSandboxDeposit: "sandbox:write",
  holdSandboxSettlement: "sandbox:write",
  failSandboxSettlement: "sandbox:write",
  releaseSandboxSettlement: "sandbox:write",
  expireSandboxKey: "sandbox:write",
  openSandboxClock: "sandbox:write",
  advanceSandboxClock: "sandbox:write",
};

/** Adds the scope of the table. A missing entry stops the start, so that no operation is left open. */
export function withScope(route: Route): Route {
  const { id, access } = route.operation;
  if (access === "anyone") return route;
  const scope = OPERATION_SCOPES[id];
  assert(scope !== undefined, `${id} has no entry in OPERATION_SCOPES`);
  return { ...route, scope };
}
