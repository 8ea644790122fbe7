import { once } from "node:events";
import { type AddressInfo } from "node:net";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import express from "express";

export interface ShopOptions {
  gatewayUrl: string;
  /** The key of the organisation that owns the wallet. */
  apiKey: string;
  /** The address of the wallet. */
  payTo: string;
  /** In KRW. */
  price: number;
}

/** A shop that sells GET /report by x402, with npm's unchanged library and Wonrail as its facilitator. */
export interface Shop {
  url: string;
  network: `eip155:${string}`;
  asset: string;
  close(): Promise<void>;
}

const UNITS_PER_KRW = 1_000_000n;

export async function startShop({ gatewayUrl, apiKey, payTo, price }: ShopOptions): Promise<Shop> {
  const headers = { "X-API-Key": apiKey };
  const facilitator = new HTTPFacilitatorClient({
    url: `${gatewayUrl}/x402`,
    createAuthHeaders: async () => ({ supported: headers, verify: headers, settle: headers }),
  });
  const [kind] = (await facilitator.getSupported()).kinds;
  if (!kind) throw new Error("the facilitator supports nothing");
  const { asset, name, version } = kind.extra as { asset: string; name: string; version: string };
  const network = kind.network as Shop["network"];
  const amount = (BigInt(price) * UNITS_PER_KRW).toString();
  const terms = { scheme: "exact", network, payTo, price: { amount, asset, extra: { name, version } } };
  const app = express();
  const server = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
  app.use(paymentMiddleware({ "GET /report": { accepts: terms, description: "A report" } }, server));
  app.get("/report", (_req, res) => void res.json({ report: "sunny" }));
  const listener = app.listen(0, "127.0.0.1");
  await once(listener, "listening");
  return {
    ...{ network, asset },
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/report`,
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
