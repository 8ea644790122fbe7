import { randomUUID } from "node:crypto";
import { type Api, type Json } from "../support/api";

/** A prepared money command, and its effect on the observed wallet. */
export interface Scene {
  path: string;
  body: Json;
  walletId: string;
  /** Available balance after one execution. */
  afterOnce: number;
  /** Limit of separate executions, the available balance then, and the refusal of further ones. */
  most: { times: number; after: number; refusal?: string };
}

export const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const OFTEN = Infinity;

/** Each command; the one with two outcomes twice. Each call creates its own wallets. */
export const SCENES: Record<string, (api: Api) => Promise<Scene>> = {
  async transfer(api) {
    const [from, to] = [await openWallet(api, 10_000), await openWallet(api, 0)];
    return transferScene(from.walletId, to.walletAddress);
  },
  async "transfer to an outside address"(api) {
    return transferScene((await openWallet(api, 10_000)).walletId, OUTSIDE);
  },
  async charge(api) {
    const { walletId } = await openWallet(api, 0);
    const body = { walletId, amount: 1_000 };
    return {
      path: "/api/wallets/charge",
      body,
      walletId,
      afterOnce: 1_000,
      most: { times: OFTEN, after: 50_000 },
    };
  },
  async "charge cancellation"(api) {
    const { walletId, chargeId } = await openWallet(api, 10_000);
    const most = { times: 10, after: 0, refusal: "CHG_003" };
    return {
      path: "/api/wallets/charge/cancel",
      body: { chargeId, amount: 1_000 },
      walletId,
      afterOnce: 9_000,
      most,
    };
  },
  async refund(api) {
    const { walletId } = await openWallet(api, 10_000);
    const most = { times: 1, after: 0, refusal: "CHG_007" };
    return { path: "/api/wallets/charge/refund", body: { walletId }, walletId, afterOnce: 0, most };
  },
  async payment(api) {
    const [payer, receiver] = [await openWallet(api, 10_000), await openWallet(api, 0)];
    const { walletId } = payer;
    const body = { ...paymentOf(walletId, receiver.walletId), incentiveAmount: 0 };
    const most = { times: 10, after: 0, refusal: "PAY_001" };
    return { path: "/api/wallets/payment", body, walletId, afterOnce: 9_000, most };
  },
  async "payment cancellation"(api) {
    const [payer, receiver] = [await openWallet(api, 10_000), await openWallet(api, 0)];
    const { walletId } = payer;
    const { paymentId } = await api.post("/api/wallets/payment", paymentOf(walletId, receiver.walletId));
    const most = { times: 1, after: 10_000, refusal: "PAY_003" };
    return { path: "/api/wallets/payment/cancel", body: { paymentId }, walletId, afterOnce: 10_000, most };
  },
  async "payment refund"(api) {
    const [payer, receiver] = [await openWallet(api, 10_000), await openWallet(api, 0)];
    const { walletId } = payer;
    const { paymentId } = await api.post("/api/wallets/payment", paymentOf(walletId, receiver.walletId));
    const most = { times: 10, after: 10_000, refusal: "PAY_009" };
    const body = { paymentId, amount: 100 };
    return { path: "/api/wallets/payment/refund", body, walletId, afterOnce: 9_100, most };
  },
};

/** A wallet of a new user, with one charge when an amount is given. */
export async function openWallet(api: Api, amount: number): Promise<Json> {
  const made = await api.post("/api/wallets", { userId: randomUUID(), walletType: "NORMAL" });
  if (amount === 0) return made;
  const { chargeId } = await api.post("/api/wallets/charge", { walletId: made.walletId, amount });
  return { ...made, chargeId };
}

export async function available(api: Api, walletId: string): Promise<number> {
  return (await api.get(`/api/wallets/${walletId}`)).availableBalance;
}

function transferScene(walletId: string, toWalletAddress: string): Scene {
  const body = { fromWalletId: walletId, toWalletAddress, amount: 1_000 };
  const most = { times: 10, after: 0, refusal: "TRF_001" };
  return { path: "/api/wallets/transfer", body, walletId, afterOnce: 9_000, most };
}

function paymentOf(payerWalletId: string, receiverWalletId: string): Json {
  return { payerWalletId, receiverWalletId, amount: 1_000 };
}
