import { largest, smallest } from "@wonrail/kit/contract/bigints";

/**
 * Number of final blocks per question: smaller for busy blocks and failing nodes, larger for quiet
 * ones.
 */
export interface ScanSpan {
  readonly blocks: bigint;
  /** Reports the number of events in the last span. */
  tookIn(events: number): void;
  /** Reports a refusal, a timeout or an oversized answer. */
  failed(): void;
}

const FIRST_BLOCKS = 8n;
const MOST_BLOCKS = 200n;
/** About two full blocks, which can be ingested quickly. */
const MANY_EVENTS = 10_000;

export function createScanSpan(): ScanSpan {
  let blocks = FIRST_BLOCKS;
  const fewer = () => void (blocks = largest(blocks / 2n, 1n));
  return {
    get blocks() {
      return blocks;
    },
    tookIn(events) {
      if (events > MANY_EVENTS) fewer();
      else if (events < MANY_EVENTS / 4) blocks = smallest(blocks * 2n, MOST_BLOCKS);
    },
    failed: fewer,
  };
}
