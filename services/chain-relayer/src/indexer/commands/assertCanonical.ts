import { type Gauge } from "@wonrail/kit/metrics";
import { type Block, type Provider, RpcUnanswered } from "../../evm";
import { type IngestedBlock } from "../store/scanCursor";

export interface CanonicalDeps {
  provider: Pick<Provider, "block">;
  gauges: { replaced: Gauge };
}

/**
 * Throws when a final block has changed: chain or endpoint are not trustworthy, so nothing is
 * ingested or concluded.
 */
export async function assertCanonical(
  { provider, gauges }: CanonicalDeps,
  { blockNumber, blockHash }: IngestedBlock,
  final?: Block,
): Promise<void> {
  const { hash: now } = final?.number === blockNumber ? final : await finalBlockAt(provider, blockNumber);
  gauges.replaced.set(now === blockHash ? 0 : 1);
  if (now !== blockHash) throw new Error(`block ${blockNumber} was final as ${blockHash} and is now ${now}`);
}

/** The chain's present block at a final height. */
export async function finalBlockAt(provider: Pick<Provider, "block">, number: bigint): Promise<Block> {
  const block = await provider.block(number);
  if (!block) throw new RpcUnanswered(`no endpoint has block ${number}, which is final`);
  return block;
}
