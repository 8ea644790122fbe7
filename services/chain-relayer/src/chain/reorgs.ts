import { Counter, Gauge, type Registry } from "@wonrail/kit/metrics";
import { type Block, type Provider } from "./provider";

const KEPT = 64;

/** Notices that blocks which were seen as the newest are no longer there. Nothing depends on it: outcomes are read from final blocks. */
export function createReorgWatch(registry: Registry) {
  const registers = [registry];
  const reorgs = new Counter({
    name: "chain_reorgs_total",
    help: "How often seen blocks went away",
    registers,
  });
  const depth = new Gauge({
    name: "reorg_depth",
    help: "Blocks that the last look found gone; 0 when it found all",
    registers,
  });
  let seen: Block[] = [];

  return async (provider: Pick<Provider, "block">, head: Block): Promise<void> => {
    const newest = seen.at(-1);
    const kept = await stillThere(provider, seen);
    if (kept === null) return;
    const last = kept.at(-1);
    const gone = newest && newest !== last ? Number(newest.number - (last?.number ?? newest.number - 1n)) : 0;
    if (gone > 0) reorgs.inc();
    depth.set(gone);
    seen = [...kept.filter(({ number }) => number < head.number), head].slice(-KEPT);
  };
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
