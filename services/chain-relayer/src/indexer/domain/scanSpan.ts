/** How many final blocks are asked for at once: fewer where much has happened or nodes do not answer, more where little has. */
export interface ScanSpan {
  readonly blocks: bigint;
  /** So many events were in the last span that was asked for. */
  tookIn(events: number): void;
  /** Endpoints refuse what is too much for them, answer too late, or with more than is accepted: each in its own way. */
  failed(): void;
}

const FIRST_BLOCKS = 8n;
const MOST_BLOCKS = 200n;
/** About what two full blocks hold; taken in at once it is neither slow nor large. */
const MANY_EVENTS = 10_000;

export function createScanSpan(): ScanSpan {
  let blocks = FIRST_BLOCKS;
  const fewer = () => void (blocks = blocks > 1n ? blocks / 2n : 1n);
  return {
    get blocks() {
      return blocks;
    },
    tookIn(events) {
      if (events > MANY_EVENTS) fewer();
      else if (events < MANY_EVENTS / 4 && blocks < MOST_BLOCKS)
        blocks = blocks * 2n < MOST_BLOCKS ? blocks * 2n : MOST_BLOCKS;
    },
    failed: fewer,
  };
}
