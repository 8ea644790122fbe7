import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { type TypedDataField, Wallet } from "ethers";
import { type Shop } from "./shop";

export interface Purchase {
  status: number;
  body: unknown;
  /** The settlement in the shop's answer; null if there is none. */
  payment: { success: boolean; transaction: string; network: string; payer?: string } | null;
}

/** Buys from a shop with npm's unchanged library. */
export async function buy({ url, network, asset }: Shop, key: string): Promise<Purchase> {
  const wallet = new Wallet(key);
  const signer = {
    address: wallet.address as `0x${string}`,
    signTypedData: async (typed: {
      domain: Record<string, unknown>;
      types: Record<string, unknown>;
      message: Record<string, unknown>;
    }) => {
      const types = typed.types as Record<string, TypedDataField[]>;
      return (await wallet.signTypedData(typed.domain, types, typed.message)) as `0x${string}`;
    },
  };
  const client = new x402Client()
    .register(network, new ExactEvmScheme(signer))
    // Without this entry the library refuses tokens that it does not know.
    .setSpendControls({ allowedAssets: [{ network, asset }] });
  const response = await wrapFetchWithPayment(fetch, client)(url);
  const header = response.headers.get("PAYMENT-RESPONSE");
  const payment = header === null ? null : decodePaymentResponseHeader(header);
  return { status: response.status, body: await response.json(), payment };
}
