import { type Signer, TOKEN_DOMAIN } from "../../evm";

export interface SupportDeps {
  signer: Pick<Signer, "address">;
  chain: { chainId: bigint; tokenAddress: string };
}

/** The network and token of payments by x402, and the key that pays for their gas. */
export async function getSupport({ signer, chain }: SupportDeps) {
  return { ...chain, ...TOKEN_DOMAIN, signerAddress: signer.address };
}
