import { Wallet } from "ethers";
import { type Api } from "../support/api";
import { buy } from "../x402/buyer";
import { startShop } from "../x402/shop";
import { type Cast } from "./money";
import { krw, screen } from "./screen";
import { showBalances, until, type Demo } from "./demo";

const PRICE = 300;

/** A payer outside buys from the shop by x402, with the libraries of others. */
export async function x402Chapter({ stack, api, ...demo }: Demo, { alice, shop }: Cast): Promise<void> {
  screen.chapter("A purchase by x402");
  const buyer = Wallet.createRandom();
  await fund(api, alice.walletId as string, buyer.address);
  const apiKey = stack.organisations[0]!.apiKey;
  const payTo = shop.walletAddress as string;
  const site = await startShop({ gatewayUrl: stack.gatewayUrl, apiKey, payTo, price: PRICE });
  try {
    const { status, payment } = await buy(site, buyer.privateKey);
    if (status !== 200 || !payment?.success)
      throw new Error(`the purchase by x402 failed: ${status} ${JSON.stringify(payment)}`);
    screen.line(`GET ${site.url}: 402, pays ${krw(PRICE)}, ${status} with ${payment.transaction}`);
    await until(
      () => api.get("/api/events?types=deposit.credited&order=desc"),
      ({ items }) => items.some((event: { data: object }) => has(event.data, payment.transaction)),
    );
    screen.done("deposit.credited once the block was final; the buyer paid no gas");
  } finally {
    await site.close();
  }
  await showBalances({ stack, api, ...demo }, { shop });
}

/** Gives the buyer tokens, as a partner would pay out. */
async function fund(api: Api, fromWalletId: string, toWalletAddress: string): Promise<void> {
  const transfer = { fromWalletId, toWalletAddress, amount: PRICE };
  const { transferId } = await api.post("/api/wallets/transfer", transfer);
  await until(
    () => api.get(`/api/wallets/transfer/${transferId}`),
    ({ status }) => status === "COMPLETED",
  );
}

function has(data: object, txHash: string): boolean {
  return JSON.stringify(data).includes(txHash);
}
