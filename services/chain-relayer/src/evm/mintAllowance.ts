import { encodeMintAllowance } from "./contracts";
import { type Provider } from "./provider";

/** How many of the token's units the payment manager may still mint, as of a block. */
export async function findMintAllowance(
  provider: Pick<Provider, "callAt">,
  { tokenAddress, paymentManagerAddress }: { tokenAddress: string; paymentManagerAddress: string },
  blockNumber: bigint,
): Promise<bigint> {
  const call = encodeMintAllowance(paymentManagerAddress);
  return BigInt(await provider.callAt(tokenAddress, call, blockNumber));
}
