import { randomUUID } from "node:crypto";
import { eventually } from "@wonrail/kit/testing";
import { type Api, type Json } from "../support/api";

/**
 * Plays every event that makes a line on a payer's two wallets. Returns each wallet's expected
 * list, newest first.
 */
export async function createEveryType(api: Api): Promise<{
  normalId: string;
  incentiveId: string;
  /** Id of the cancelled payment. */
  paymentId: string;
  normal: Line[];
  incentive: Line[];
}> {
  const userId = randomUUID();
  const open = (walletType: string, user = userId) => api.post("/api/wallets", { userId: user, walletType });
  const shop = await open("NORMAL", randomUUID());
  const { walletId: normalId } = await open("NORMAL");
  // The first accrual creates the INCENTIVE wallet.
  const order = { payerWalletId: normalId, receiverWalletId: shop.walletId };
  const { chargeId } = await api.post("/api/wallets/charge", { walletId: normalId, amount: 50_000 });
  await api.post("/api/wallets/payment", { ...order, amount: 20_000 });
  const { paymentId } = await api.post("/api/wallets/payment", { ...order, amount: 5_000 });
  await api.post("/api/wallets/payment/cancel", { paymentId });
  const transfer = { fromWalletId: normalId, toWalletAddress: shop.walletAddress, amount: 2_000 };
  await api.post("/api/wallets/transfer", transfer);
  await api.post("/api/wallets/charge/cancel", { chargeId, amount: 8_000 });
  await api.post("/api/wallets/charge/refund", { walletId: normalId });
  await untilChargeIsListed(api, chargeId, 8_000);
  const { items } = await api.get<{ items: Json[] }>(`/api/wallets?userId=${userId}&walletType=INCENTIVE`);
  return {
    normalId,
    incentiveId: items[0].walletId,
    paymentId,
    normal: [
      ["REFUND", -20_000, 0, null],
      ["CHARGE_CANCEL", -8_000, 20_000, null],
      ["TRANSFER", -2_000, 28_000, shop.walletId],
      ["PAYMENT_CANCEL", 4_000, 30_000, shop.walletId],
      ["PAYMENT", -4_000, 26_000, shop.walletId],
      ["PAYMENT", -20_000, 30_000, shop.walletId],
      ["CHARGE", 50_000, 50_000, null],
    ],
    incentive: [
      ["INCENTIVE_CANCEL", -200, 1_000, null],
      ["INCENTIVE_USE_CANCEL", 1_000, 1_200, shop.walletId],
      ["INCENTIVE", 200, 200, null],
      ["INCENTIVE_USE", -1_000, 0, shop.walletId],
      ["INCENTIVE", 1_000, 1_000, null],
    ],
  };
}

/**
 * Waits until the list of charges shows the cancelled amount. The lists are projections of one journal, so
 * they then show all earlier commands of the organisation too.
 */
async function untilChargeIsListed(api: Api, chargeId: string, cancelledAmount: number): Promise<void> {
  await eventually(
    async () => {
      const { items } = await api.get<{ items: Json[] }>("/api/wallets/charge");
      expect(items).toContainEqual(expect.objectContaining({ chargeId, cancelledAmount }));
    },
    { timeoutMs: 30_000 },
  );
}

export type Line = [type: string, signedAmount: number, balanceAfter: number, counterparty: string | null];

export function lineOf({ type, direction, amount, balanceAfter, counterparty }: Json): Line {
  return [type, direction === "IN" ? amount : -amount, balanceAfter, counterparty];
}

/** Reads all pages of a list, once by cursor and once by page number. */
export async function readPages(api: Api, path: string, limit: number): Promise<[Json[], Json[]]> {
  const [byCursor, byNumber]: [Json[], Json[]] = [[], []];
  const page = (position: string) =>
    api.get(`${path}${path.includes("?") ? "&" : "?"}limit=${limit}${position}`);
  let cursor = "";
  do {
    const { items, pagination } = await page(cursor);
    byCursor.push(...(items as Json[]).map(withoutChanging));
    cursor = pagination.nextCursor === null ? "" : `&cursor=${pagination.nextCursor}`;
  } while (cursor !== "");
  for (let number = 1, more = true; more; number += 1) {
    const { items, pagination } = await page(`&currentPage=${number}`);
    byNumber.push(...(items as Json[]).map(withoutChanging));
    more = pagination.hasNext;
  }
  return [byCursor, byNumber];
}

/** Drops the fields that the chain's settlement changes between two readings. */
function withoutChanging(item: Json): Json {
  const changing = ["settlement", "cancellation", "status", "updatedAt"];
  return Object.fromEntries(Object.entries(item).filter(([name]) => !changing.includes(name)));
}
