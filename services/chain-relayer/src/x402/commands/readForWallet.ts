import { sameAddress } from "@wonrail/kit/contract/address";
import { type TransferAuthorization } from "../../evm";
import { type WalletClient } from "../../indexer";
import { isRefusal, type PaymentRequest, readPayment, type Refusal, refusal } from "../domain/payment";
import { type PaymentKey } from "../store/payments";

export interface ReadDeps {
  wallet: Pick<WalletClient, "findWalletsByAddress">;
  chain: { chainId: bigint; tokenAddress: string };
}

/** A payment to a wallet of the organisation. The answer does not change with time. */
export interface AskedPayment {
  orgId: string;
  walletId: string;
  authorization: TransferAuthorization;
  /** As given. */
  signature: Uint8Array;
}

/** The key under which the payment is stored. */
export function keyOf({ orgId, authorization: { from, nonce } }: AskedPayment): PaymentKey {
  return { orgId, from, nonce };
}

/** Reads a payment and finds its wallet. */
export async function readForWallet(
  { wallet, chain }: ReadDeps,
  { orgId, payment }: { orgId: string; payment: PaymentRequest },
): Promise<AskedPayment | Refusal> {
  const authorization = readPayment(payment, chain);
  if (isRefusal(authorization)) return authorization;
  const { from, to } = authorization;
  const { wallets } = await wallet.findWalletsByAddress({ orgId: "", addresses: [from, to] });
  const walletAt = (address: string) =>
    wallets.find(({ walletAddress }) => sameAddress(walletAddress, address));
  const payee = walletAt(to);
  if (payee?.orgId !== orgId) return refusal("terms", "payTo is not the address of a wallet of yours");
  // Custody signs only for entries of the ledger, so the ledger would not know this movement.
  if (walletAt(from)) return refusal("terms", "the payer is a wallet of this service: create a payment");
  return { orgId, walletId: payee.walletId, authorization, signature: payment.signature };
}
