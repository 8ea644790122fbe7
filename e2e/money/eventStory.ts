import { randomBytes } from "node:crypto";
import { eventually } from "@wonrail/kit/testing";
import { type Api, type Json } from "../support/api";

/** The types of events that the story makes. */
export const TYPES_OF_STORY = [
  "api_key.issued",
  "charge.cancelled",
  "charge.created",
  "payment.cancelled",
  "payment.created",
  "payment.refunded",
  "payout.completed",
  "payout.created",
  "refund.created",
  "settlement.confirmed",
  "transaction.status_changed",
  "transfer.completed",
  "transfer.created",
  "wallet.created",
  "wallet.deactivated",
  "wallet.updated",
];

const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** Something of every kind happens; the wallets change last. */
export async function tellStory(api: Api): Promise<void> {
  const newWallet = (userId: string) => api.post("/api/wallets", { userId, walletType: "NORMAL" });
  const [payer, shop, idle] = [await newWallet("payer"), await newWallet("shop"), await newWallet("idle")];
  const ids = { payerWalletId: payer.walletId, receiverWalletId: shop.walletId };
  const { chargeId } = await api.post("/api/wallets/charge", { walletId: payer.walletId, amount: 50_000 });
  await api.patch(`/api/wallets/charge/${chargeId}`, { metadata: { till: "3" } });
  const part = { chargeId, amount: 1_000, memo: "too much", metadata: { clerk: "kim" } };
  await api.post("/api/wallets/charge/cancel", part);
  const kept = { ...ids, amount: 10_000, memo: "kept", reference: "order-7", metadata: { shop: "A" } };
  const { paymentId: keptId } = await api.post("/api/wallets/payment", kept);
  await api.patch(`/api/wallets/payment/${keptId}`, { metadata: { shop: null, invoice: "R-77" } });
  const { paymentId } = await api.post("/api/wallets/payment", { ...ids, amount: 5_000 });
  await api.post("/api/wallets/payment/cancel", { paymentId });
  const { paymentId: refundedId } = await api.post("/api/wallets/payment", { ...ids, amount: 4_000 });
  for (const amount of [1_000, 500])
    await api.post("/api/wallets/payment/refund", { paymentId: refundedId, amount, memo: "returned" });
  const transfer = { fromWalletId: payer.walletId, amount: 2_000 };
  await api.post("/api/wallets/transfer", { ...transfer, toWalletAddress: shop.walletAddress });
  await api.post("/api/wallets/transfer", { ...transfer, toWalletAddress: OUTSIDE });
  const row = { toWalletAddress: shop.walletAddress, amount: 1_000 };
  await api.post("/api/payouts", { fromWalletId: payer.walletId, dryRun: true, rows: [row] });
  await api.post("/api/wallets/charge/refund", { walletId: shop.walletId });
  const network = { fromNetworkType: "BASE_SEPOLIA", toNetworkType: "BASE_SEPOLIA" };
  const addresses = { fromAddress: OUTSIDE, toAddress: OUTSIDE };
  const txHash = `0x${randomBytes(32).toString("hex")}`;
  const record = { ...network, ...addresses, paymentType: "INSTANT", amount: "1000000", txHash };
  const { id } = await api.post("/api/transaction", record);
  await api.patch(`/api/transaction/${id}/status`, { status: "CONFIRMED" });
  // An event of a wallet has the balance of the entries that events has read until then.
  const isToldOf = async (): Promise<void> => {
    const { items } = await api.get("/api/events?limit=100");
    expect(items.map(({ type }: Json) => type)).toContain("refund.created");
  };
  await eventually(isToldOf, { timeoutMs: 60_000 });
  await api.patch(`/api/wallets/${shop.walletId}`, { metadata: { branch: "Seoul" } });
  await api.post(`/api/wallets/${idle.walletId}/deactivate`, undefined);
}

const PATHS: Record<string, string> = {
  wal: "/api/wallets/",
  chg: "/api/wallets/charge/",
  rfd: "/api/wallets/charge/refund/",
  trf: "/api/wallets/transfer/",
  pay: "/api/wallets/payment/",
  pyo: "/api/payouts/",
  txn: "/api/transaction/",
};

/** The objects whose newest event differs from a read. A wallet's balance changes without an event of the wallet. */
export async function differencesFromReads(api: Api): Promise<object[]> {
  const { items } = await api.get<{ items: Json[] }>("/api/events?limit=100");
  const newest = new Map(items.map((event) => [event.objectId as string, event]));
  const different: object[] = [];
  for (const [objectId, event] of newest) {
    if (event.type === "wallet.created") continue;
    const path = PATHS[objectId.slice(0, 3)];
    const read =
      path === undefined
        ? (await api.get("/api/wallet-auth/session")).key
        : await api.get(`${path}${objectId}`);
    const isOpen = (read.settlement?.status ?? "CONFIRMED") !== "CONFIRMED" || read.status === "PENDING";
    if (isOpen || JSON.stringify(event.data) !== JSON.stringify(read)) different.push({ event, read });
  }
  return newest.size > 0 ? different : [{ event: null }];
}

/** Reads events from the stream until there are so many. */
export async function readFrames(
  url: string,
  apiKey: string,
  headers: Record<string, string>,
  count: number,
): Promise<Json[]> {
  const response = await fetch(url, { headers: { "X-API-Key": apiKey, ...headers } });
  const events: Json[] = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const frames = (text + chunk).split("\n\n");
    text = frames.pop()!;
    events.push(...frames.flatMap(eventOf));
    if (events.length >= count) return events.slice(0, count);
  }
  throw new Error(`the stream ended after ${events.length} events`);
}

function eventOf(frame: string): Json[] {
  const fields = new Map(
    frame.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  const data = fields.get("data");
  if (data === undefined) return [];
  const event: Json = JSON.parse(data);
  if (fields.get("id") !== String(event.sequence) || fields.get("event") !== event.type)
    throw new Error(frame);
  return [event];
}
