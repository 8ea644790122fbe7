import { type Block, type Provider } from "../chain/provider";
import { RpcUnclear } from "../chain/rpc";
import { type Cursor } from "../store/scanCursor";
import { type Gauges } from "./measure";

export interface CanonicalDeps {
  provider: Pick<Provider, "block">;
  gauges: Pick<Gauges, "replaced">;
}

/** A final block that has changed means that the chain or the endpoint cannot be trusted: nothing is taken in, and nothing concluded. */
export async function assertCanonical(
  { provider, gauges }: CanonicalDeps,
  cursor: Cursor,
  final?: Block,
): Promise<void> {
  const { blockNumber, blockHash } = cursor;
  const now = final?.number === blockNumber ? final.hash : await hashNow(provider, cursor);
  gauges.replaced.set(now === blockHash ? 0 : 1);
  if (now !== blockHash) throw new Error(`block ${blockNumber} was final as ${blockHash} and is now ${now}`);
}

/** What the chain has now where everything up to the cursor was taken in. */
export async function hashNow(
  provider: Pick<Provider, "block">,
  { blockNumber }: Pick<Cursor, "blockNumber">,
): Promise<string> {
  const block = await provider.block(blockNumber);
  if (!block) throw new RpcUnclear(`no endpoint has block ${blockNumber}, which is final`);
  return block.hash;
}
