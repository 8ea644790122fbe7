import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** Headers have 1.3 KB each; this many are read and written in a tenth of a second. */
export const HEADERS_KEPT = 5_000;

/** The parts of anvil's state that are read here. */
export interface AnvilState {
  blocks: { header: { number: string } }[];
  transactions: { block_number: number; info: { traces: unknown[] } }[];
}

/** Drops old headers, old transactions and all call traces from a state file. The node would keep them for ever. */
export function compactState(stateFile: string, transactionBlocks: number): void {
  const state = JSON.parse(readFileSync(stateFile, "utf8")) as AnvilState;
  writeFileSync(`${stateFile}.new`, JSON.stringify(withoutHistory(state, transactionBlocks)), {
    mode: 0o600,
  });
  renameSync(`${stateFile}.new`, stateFile);
}

export function withoutHistory(state: AnvilState, transactionBlocks: number): AnvilState {
  const numberOf = ({ header }: AnvilState["blocks"][number]): number => Number(header.number);
  const head = state.blocks.reduce((highest, block) => Math.max(highest, numberOf(block)), 0);
  return {
    ...state,
    // Keeps the first block, where the node starts the chain.
    blocks: state.blocks.filter((block) => numberOf(block) === 0 || numberOf(block) > head - HEADERS_KEPT),
    transactions: state.transactions
      .filter(({ block_number }) => block_number > head - transactionBlocks)
      .map((transaction) => ({ ...transaction, info: { ...transaction.info, traces: [] } })),
  };
}
