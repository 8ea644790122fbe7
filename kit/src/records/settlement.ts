/** How far the chain is with a ledger entry or hold. */
export interface Settlement {
  status: "PENDING" | "SUBMITTED" | "CONFIRMED" | "FAILED";
  network: string;
  txHash: string | null;
  blockNumber: bigint | null;
  /** Null unless the settlement is FAILED. */
  failureReason: string | null;
}

/** The settlement of a record without an event of chain-relayer. */
export function pending(network: string): Settlement {
  return { status: "PENDING", network, txHash: null, blockNumber: null, failureReason: null };
}
