import { newId } from "@wonrail/kit/contract/ids";
import { PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { type Call, calls, choice } from "./callRows";
import { executeRequest, payoutRequest, transferCommand } from "./story";

const PAGE = { limit: 20, position: choice("currentPage", 1) };
const LONG_PAGE = { ...PAGE, limit: 101 };

/** The gateway's calls to payment. */
export const PAYMENT_CALLS: Call[] = calls("gateway", "payment", PaymentServiceService, {
  execute: {
    good: ({ orgId, payer: { walletId } }) =>
      executeRequest(orgId, choice("charge", { walletId, amountWon: "1000", metadata: {} })),
    bad: ["REQ_001 bodyHash", (good) => ({ ...good, bodyHash: Buffer.alloc(31) })],
  },
  executeBulk: {
    good: ({ orgId, payer, payee }) => ({ items: [executeRequest(orgId, transferCommand(payer, payee))] }),
    bad: ["REQ_001 command", ({ items }) => ({ items: [{ ...items[0]!, command: undefined }] })],
  },
  getTransfer: {
    good: ({ orgId, transferId }) => ({ orgId, transferId }),
    bad: ["TRF_005", (good) => ({ ...good, transferId: newId("trf") })],
  },
  listTransfers: {
    good: ({ orgId, payer: { walletId } }) => ({ orgId, walletId, page: PAGE }),
    bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
  },
  getCharge: {
    good: ({ orgId, chargeId }) => ({ orgId, chargeId }),
    bad: ["CHG_002", (good) => ({ ...good, chargeId: newId("chg") })],
  },
  listCharges: {
    good: ({ orgId, payer: { walletId } }) => ({ orgId, walletId, page: PAGE }),
    bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
  },
  getRefund: {
    good: ({ orgId, refundId }) => ({ orgId, refundId }),
    bad: ["CHG_002", (good) => ({ ...good, refundId: newId("rfd") })],
  },
  getPayment: {
    good: ({ orgId, paymentId }) => ({ orgId, paymentId }),
    bad: ["PAY_004", (good) => ({ ...good, paymentId: newId("pay") })],
  },
  listPayments: {
    good: ({ orgId, payer: { walletId } }) => ({ orgId, walletId, page: PAGE }),
    bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
  },
  listRefunds: {
    good: ({ orgId, payer: { walletId } }) => ({ orgId, walletId, page: PAGE }),
    bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
  },
  updateMetadata: {
    good: ({ orgId, chargeId: id }) => ({ orgId, id, set: { till: "1" }, remove: ["shop"] }),
    bad: ["REQ_001 metadata.k", (good) => ({ ...good, set: { k: "v".repeat(501) } })],
  },
  listTransactions: {
    good: ({ orgId }) => ({ orgId, types: ["CHARGE"], page: PAGE }),
    bad: ["REQ_001 type", (good) => ({ ...good, types: ["GIFT"] })],
  },
  getBalanceAt: {
    good: ({ orgId, payer: { walletId } }) => ({ orgId, walletId }),
    bad: ["REQ_001 at", (good) => ({ ...good, at: new Date(Date.now() + 86_400_000) })],
  },
  readStatement: {
    good: ({ orgId, payer: { walletId } }) => ({
      ...{ orgId, walletId, from: new Date(0), to: new Date(), limit: 10 },
    }),
    bad: ["REQ_001 limit", (good) => ({ ...good, limit: 1_001 })],
  },
  createPayout: {
    good: ({ orgId, payer, payee }) => payoutRequest(orgId, payer.walletId, payee.address),
    bad: ["REQ_001 rows", (good) => ({ ...good, rows: [] })],
  },
  getPayout: {
    good: ({ orgId, payoutId }) => ({ orgId, payoutId }),
    bad: ["PYO_001", (good) => ({ ...good, payoutId: newId("pyo") })],
  },
  listPayouts: {
    good: ({ orgId }) => ({ orgId, page: PAGE }),
    bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
  },
  listPayoutRows: {
    good: ({ orgId, payoutId }) => ({ orgId, payoutId, page: PAGE }),
    bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
  },
  listWalletTransactions: {
    good: ({ orgId, payer: { walletId } }) => ({ orgId, walletId, types: ["CHARGE"], page: PAGE }),
    bad: ["REQ_001 type", (good) => ({ ...good, types: ["GIFT"] })],
  },
});
