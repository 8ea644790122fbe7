import { type Block, decodeLog, type Provider, topicsOfTransfer, topicsOfUse } from "../../evm";
import { type StoredPayment } from "../store/payments";

export interface UseDeps {
  provider: Pick<Provider, "latestBlock" | "block" | "logs">;
  chain: { tokenAddress: string };
}

/** A transaction that used the authorization of a payment. */
export interface FoundUse {
  txHash: string;
  /** It moved the payment's money. Otherwise another authorization has the same nonce. */
  isPayment: boolean;
}

/** Finds the use of a payment's authorization, in a block that may not be final. */
export async function findUse(
  { provider, chain }: UseDeps,
  payment: Pick<StoredPayment, "from" | "to" | "nonce" | "units" | "unusedBlock">,
): Promise<FoundUse | null> {
  const latest = await provider.latestBlock();
  // The endpoints that answer now may lag.
  if (latest.number < payment.unusedBlock) return null;
  const search = (topics: string[], fromBlock: bigint, to: Pick<Block, "number" | "hash">) =>
    provider.logs({ addresses: [chain.tokenAddress], topics, fromBlock, to });
  const [use] = await search(topicsOfUse(payment), payment.unusedBlock, latest);
  if (!use) return null;
  const block = { number: use.blockNumber, hash: use.blockHash };
  const transfers = await search(topicsOfTransfer(payment), block.number, block);
  const isPayment = transfers.some((log) => {
    const event = decodeLog(log, { ...chain, paymentManagers: [] });
    // The token logs the authorizer right before the movement.
    const isNext = log.txHash === use.txHash && log.logIndex === use.logIndex + 1;
    return isNext && event?.kind === "transfer" && event.units === payment.units;
  });
  return { txHash: use.txHash, isPayment };
}
