import {
  charge,
  chargeCancellation,
  createdWebhook,
  daysAfter,
  done,
  firstKey,
  firstPayment,
  instant,
  issuedShopKey,
  instantRequest,
  justCancelled,
  later,
  lines,
  madeOnRequest,
  minute,
  movedPayer,
  newKey,
  newPayer,
  pageOf,
  partOfCharge,
  payer,
  paymentEvents,
  payerWalletId,
  receiverWalletId,
  quietWebhook,
  refund,
  refundedPayment,
  retriedDelivery,
  rotatedWebhook,
  secondsAfter,
  scheduled,
  scheduledRequest,
  secondPayment,
  secretKey,
  session,
  settledPayments,
  settledRefund,
  settledTransfer,
  shop,
  shopAddress,
  shopKey,
  testDelivery,
  transfer,
  usedFirstKey,
} from "./exampleFixtures";

// The document's examples form one sequence. user-1001 gets money, pays at a shop and cancels a
// part; the bank records other transactions and schedules the shop's payout; the shop refunds a
// part of a payment; then the user leaves.
// Ids, amounts and states continue from each answer to the next request, so that a reader who sends
// them in order gets these answers. examples.test.ts checks this.

/** A request of the story and its answer. */
export interface Example {
  /** The operation's id. */
  operation: string;
  /** Distinguishes the examples of one operation. */
  name?: string;
  /** Time of the answer. */
  at: string;
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  data: object;
}

/** In chronological order. */
export const story: Example[] = [
  { operation: "checkHealth", at: minute(0), data: { status: "ok" } },
  { operation: "getSession", at: minute(1), data: session },
  {
    operation: "issueKey",
    at: shopKey.issuedAt,
    body: { name: shopKey.name, scopes: shopKey.scopes, allowedAddresses: shopKey.allowedAddresses },
    data: issuedShopKey,
  },
  {
    operation: "getKey",
    at: secondsAfter(minute(1), 20),
    params: { keyId: shopKey.keyId },
    data: shopKey,
  },
  { operation: "listKeys", at: secondsAfter(minute(1), 30), query: {}, data: pageOf(shopKey, usedFirstKey) },
  {
    operation: "refreshKey",
    at: minute(2),
    body: { apiKey: firstKey, secretKey },
    data: { newApiKey: newKey, expiresAt: daysAfter(minute(2), 90) },
  },
  {
    operation: "createWallet",
    at: minute(3),
    body: { userId: "user-1001", walletType: "NORMAL", metadata: { branch: "Seoul" } },
    data: newPayer,
  },
  {
    operation: "listWallets",
    at: minute(5),
    query: { walletType: "NORMAL", status: "ACTIVE" },
    data: pageOf(shop, payer),
  },
  {
    operation: "createCharge",
    at: minute(6),
    body: { walletId: payerWalletId, amount: 50_000 },
    data: charge,
  },
  {
    operation: "createTransfer",
    at: minute(7),
    body: {
      fromWalletId: payerWalletId,
      toWalletAddress: shopAddress,
      amount: 10_000,
      memo: transfer.memo,
    },
    data: transfer,
  },
  {
    operation: "createPayment",
    name: "withoutIncentive",
    at: minute(8),
    body: { payerWalletId, receiverWalletId, amount: 12_000, incentiveAmount: 0, memo: firstPayment.memo },
    data: firstPayment,
  },
  {
    operation: "createPayment",
    name: "withIncentive",
    at: minute(9),
    body: { payerWalletId, receiverWalletId, amount: 5_000, incentiveAmount: 100, memo: secondPayment.memo },
    data: secondPayment,
  },
  {
    operation: "cancelPayment",
    at: minute(10),
    body: { paymentId: secondPayment.paymentId, memo: justCancelled.cancellation.memo },
    data: justCancelled,
  },
  {
    operation: "getWallet",
    at: minute(11),
    params: { walletId: payerWalletId },
    data: { ...payer, balance: 28_000, availableBalance: 28_000 },
  },
  {
    operation: "updateWallet",
    at: minute(12),
    params: { walletId: payerWalletId },
    body: { metadata: { branch: "Busan" } },
    data: { ...movedPayer, balance: 28_000, availableBalance: 28_000 },
  },
  {
    operation: "cancelCharge",
    at: minute(13),
    body: { chargeId: charge.chargeId, amount: 20_000 },
    data: { ...partOfCharge, cancelId: chargeCancellation.cancelId, cancellation: chargeCancellation },
  },
  {
    operation: "getCharge",
    at: minute(14),
    params: { chargeId: charge.chargeId },
    data: {
      ...partOfCharge,
      cancellations: [{ ...chargeCancellation, amount: 20_000, memo: null, createdAt: minute(13) }],
    },
  },
  {
    operation: "listCharges",
    at: minute(15),
    query: { walletId: payerWalletId },
    data: pageOf(partOfCharge),
  },
  {
    operation: "getTransfer",
    at: minute(16),
    params: { transferId: transfer.transferId },
    data: settledTransfer,
  },
  {
    operation: "listTransfers",
    at: minute(17),
    query: { walletId: payerWalletId },
    data: pageOf(settledTransfer),
  },
  {
    operation: "getPayment",
    at: minute(18),
    params: { paymentId: secondPayment.paymentId },
    data: { ...settledPayments[0]!, refunds: [] },
  },
  {
    operation: "listPayments",
    at: minute(19),
    query: { walletId: payerWalletId },
    data: pageOf(...settledPayments),
  },
  {
    operation: "listWalletTransactions",
    at: minute(20),
    params: { walletId: payerWalletId },
    query: { type: "PAYMENT,PAYMENT_CANCEL", from: "2026-01-14T00:00:00Z", to: "2026-01-15T00:00:00Z" },
    data: pageOf(...lines),
  },
  { operation: "createTransaction", name: "instant", at: minute(21), body: instantRequest, data: instant },
  {
    operation: "createTransaction",
    name: "scheduled",
    at: minute(22),
    body: scheduledRequest,
    data: scheduled,
  },
  {
    operation: "updateTransactionStatus",
    at: minute(23),
    params: { id: instant.id },
    body: { status: "CONFIRMED" },
    data: done,
  },
  {
    operation: "updateTransactionSchedule",
    at: minute(24),
    params: { id: later.id },
    body: { scheduledAt: "2099-02-14T09:30:00+09:00" },
    data: later,
  },
  {
    operation: "getTransaction",
    at: minute(25),
    params: { id: instant.id },
    data: {
      ...done,
      history: [
        { ...madeOnRequest, status: "PENDING", changedAt: minute(21) },
        { ...madeOnRequest, status: "CONFIRMED", changedAt: minute(23) },
      ],
    },
  },
  {
    operation: "listTransactions",
    at: minute(26),
    query: { status: "PENDING", paymentType: "SCHEDULED", address: shopAddress },
    data: pageOf(later),
  },
  {
    operation: "listEvents",
    at: minute(26),
    query: { after: "7", types: "payment.created,payment.cancelled", objectId: secondPayment.paymentId },
    data: { items: paymentEvents, pagination: { limit: 20, hasNext: false, nextAfter: "15" } },
  },
  {
    operation: "getEvent",
    at: minute(26),
    params: { eventId: paymentEvents[0]!.eventId },
    data: paymentEvents[0]!,
  },
  {
    operation: "createWebhook",
    at: minute(26),
    body: {
      url: createdWebhook.url,
      eventTypes: createdWebhook.eventTypes,
      description: "Orders",
      ordering: "object",
    },
    data: createdWebhook,
  },
  {
    operation: "testWebhook",
    at: secondsAfter(minute(26), 1),
    params: { webhookId: createdWebhook.webhookId },
    data: testDelivery,
  },
  {
    operation: "listDeliveries",
    at: secondsAfter(minute(26), 2),
    params: { webhookId: createdWebhook.webhookId },
    query: { status: "PENDING" },
    data: pageOf(retriedDelivery),
  },
  {
    operation: "updateWebhook",
    at: secondsAfter(minute(26), 3),
    params: { webhookId: createdWebhook.webhookId },
    body: { description: quietWebhook.description },
    data: quietWebhook,
  },
  {
    operation: "getWebhook",
    at: secondsAfter(minute(26), 4),
    params: { webhookId: createdWebhook.webhookId },
    data: quietWebhook,
  },
  { operation: "listWebhooks", at: secondsAfter(minute(26), 5), query: {}, data: pageOf(quietWebhook) },
  {
    operation: "replayWebhook",
    at: secondsAfter(minute(26), 6),
    params: { webhookId: createdWebhook.webhookId },
    body: { after: "7", upTo: "9" },
    data: { deliveries: 2 },
  },
  {
    operation: "rotateWebhookSecret",
    at: secondsAfter(minute(26), 7),
    params: { webhookId: createdWebhook.webhookId },
    body: { overlapSeconds: 86_400 },
    data: rotatedWebhook,
  },
  {
    operation: "deleteWebhook",
    at: secondsAfter(minute(26), 8),
    params: { webhookId: createdWebhook.webhookId },
    data: { deleted: true },
  },
  {
    operation: "refundPayment",
    at: refundedPayment.refund.createdAt,
    body: {
      paymentId: refundedPayment.paymentId,
      amount: refundedPayment.refund.amount,
      memo: refundedPayment.refund.memo,
    },
    data: refundedPayment,
  },
  {
    operation: "refundWallet",
    at: minute(27),
    body: { walletId: payerWalletId },
    data: refund,
  },
  { operation: "getRefund", at: minute(30), params: { refundId: refund.refundId }, data: settledRefund },
  {
    operation: "deactivateWallet",
    at: minute(40),
    params: { walletId: payerWalletId },
    data: { ...movedPayer, status: "DEACTIVATED", updatedAt: minute(40) },
  },
  {
    operation: "deleteKey",
    at: secondsAfter(minute(40), 10),
    params: { keyId: shopKey.keyId },
    query: { withSuccessors: "true" },
    data: {
      ...{ keyId: shopKey.keyId, revoked: true, revokedAt: secondsAfter(minute(40), 10) },
      revokedKeyIds: [shopKey.keyId],
    },
  },
  { operation: "revokeKey", at: minute(41), data: { revoked: true, revokedAt: minute(41) } },
];
