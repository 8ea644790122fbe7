import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { type Api, type Json } from "./api";
import { asAdmin } from "./asAdmin";
import { charged, wallet } from "./chargedWallet";
import { type TestStack } from "./startStack";

interface World {
  stack: TestStack;
  api: Api;
}

const NOBODY = "0".repeat(32);

async function paid(api: Api): Promise<{ payer: Json; receiver: Json; payment: Json }> {
  const payer = await charged(api, 10_000);
  const receiver = await wallet(api);
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  const payment = await api.post("/api/wallets/payment", { ...ids, amount: 1_000 });
  return { payer, receiver, payment };
}

/** Requests that are refused with the codes of payments. */
export const PAYMENT_CODES = {
  PAY_001: async ({ api }: World) => {
    const [payer, receiver] = [await charged(api, 1_000), await wallet(api)];
    const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
    const refused = await api.call("POST", "/api/wallets/payment", { ...ids, amount: 1_001 });
    expect(refused.body.error?.details).toEqual({ available: 1_000, required: 1_001 });
    return refused;
  },
  PAY_002: async ({ api }: World) => {
    const [payer, receiver] = [await charged(api, 1_000), await wallet(api)];
    const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
    return api.call("POST", "/api/wallets/payment", { ...ids, amount: 99 });
  },
  PAY_003: async ({ api }: World) => {
    const { payment } = await paid(api);
    expect(await api.post("/api/wallets/payment/cancel", { paymentId: payment.paymentId })).toMatchObject({
      status: "CANCELLED",
    });
    return api.call("POST", "/api/wallets/payment/cancel", { paymentId: payment.paymentId });
  },
  PAY_004: ({ api }: World) => api.call("GET", `/api/wallets/payment/pay_${NOBODY}`),
  PYO_001: ({ api }: World) => api.call("GET", `/api/payouts/pyo_${NOBODY}`),
  PAY_005: async ({ api }: World) => {
    const payer = await charged(api, 1_000);
    const own = await wallet(api, "INCENTIVE", payer.userId);
    const ids = { payerWalletId: payer.walletId, receiverWalletId: own.walletId };
    return api.call("POST", "/api/wallets/payment", { ...ids, amount: 100 });
  },
  PAY_006: async ({ api }: World) => {
    const [payer, receiver] = [await charged(api, 1_000), await wallet(api)];
    const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
    return api.call("POST", "/api/wallets/payment", { ...ids, amount: 100, incentiveAmount: 50 });
  },
  PAY_007: async ({ api, stack }: World) => {
    const { payment } = await paid(api);
    // After the projection, gives the record the id of a month that the journal does not have.
    const paymentId = newId("pay", Date.now() - 300 * 24 * 3_600_000);
    const rename = sql`update payments set payment_id = ${paymentId} where payment_id = ${payment.paymentId as string}`;
    await eventually(async () => {
      await asAdmin(stack.stack(), "payment", (db) => db.run(rename));
      expect((await api.call("GET", `/api/wallets/payment/${paymentId}`)).status).toBe(200);
    });
    return api.call("POST", "/api/wallets/payment/cancel", { paymentId });
  },
  PAY_008: async ({ api }: World) => {
    const { paymentId } = (await paid(api)).payment;
    expect(await api.post("/api/wallets/payment/refund", { paymentId, amount: 1 })).toMatchObject({
      ...{ status: "PARTIALLY_REFUNDED", refundedAmount: 1 },
    });
    return api.call("POST", "/api/wallets/payment/cancel", { paymentId });
  },
  PAY_009: async ({ api }: World) => {
    const { paymentId } = (await paid(api)).payment;
    await api.post("/api/wallets/payment/refund", { paymentId, amount: 400 });
    const refused = await api.call("POST", "/api/wallets/payment/refund", { paymentId, amount: 601 });
    expect(refused.body.error?.details).toEqual({ remaining: 600 });
    return refused;
  },
};
