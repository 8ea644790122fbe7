import { encodeMintableToday, encodeMintAllowance } from "./contracts";
import { type Provider } from "./provider";

/** The rest of the mint allowance and of the cap per day, in the token's units. */
export interface MintRoom {
  /** By the payment manager, in all. */
  allowance: bigint;
  /** By all minters within 24 hours. */
  today: bigint;
}

export async function findMintRoom(
  provider: Pick<Provider, "callAt">,
  { tokenAddress, paymentManagerAddress }: { tokenAddress: string; paymentManagerAddress: string },
  blockNumber: bigint,
): Promise<MintRoom> {
  const ask = async (call: string) => BigInt(await provider.callAt(tokenAddress, call, blockNumber));
  const [allowance, today] = await Promise.all([
    ask(encodeMintAllowance(paymentManagerAddress)),
    ask(encodeMintableToday()),
  ]);
  return { allowance, today };
}
