import { Counter, Gauge, type Registry } from "@wonrail/kit/metrics";
import { type Block, type Provider } from "./provider";

const KEPT = 64;
/** Keeps a depth for some minutes, so that a scrape finds it. */
const LOOKS_TOLD = 30;

/** Detects replaced head blocks. Only for metrics: outcomes are read from final blocks. */
export function createReorgWatch(registry: Registry) {
  const registers = [registry];
  const reorgs = new Counter({
    name: "chain_reorgs_total",
    help: "Reorganisations in which the chain replaced blocks",
    registers,
  });
  const depth = new Gauge({
    name: "reorg_depth",
    help: "Upper bound of the blocks replaced by one reorganisation: the largest of the last 30 checks, 10 s apart; 0 without one",
    registers,
  });
  let seen: Block[] = [];
  let depths: number[] = [];

  return async (provider: Pick<Provider, "block">, head: Block): Promise<void> => {
    const kept = await stillThere(provider, seen);
    if (kept === null) return;
    const gone = depthOf(seen, kept);
    if (gone > 0) reorgs.inc();
    depths = [...depths, gone].slice(-LOOKS_TOLD);
    depth.set(Math.max(...depths));
    seen = [...kept.filter(({ number }) => number < head.number), head].slice(-KEPT);
  };
}

/**
 * Unseen blocks between two looks may have stayed, so this is an upper bound. When no seen block
 * remains it is a lower bound.
 */
function depthOf(seen: Block[], kept: Block[]): number {
  const first = seen[kept.length];
  if (!first) return 0;
  const last = kept.at(-1)?.number ?? first.number - 1n;
  return Number(seen.at(-1)!.number - last);
}

/** Null when the endpoint is behind, and cannot say. */
async function stillThere(provider: Pick<Provider, "block">, seen: Block[]): Promise<Block[] | null> {
  for (let count = seen.length; count > 0; count -= 1) {
    const block = seen[count - 1]!;
    const now = await provider.block(block.number);
    if (!now) return null;
    if (now.hash === block.hash) return seen.slice(0, count);
  }
  return [];
}
