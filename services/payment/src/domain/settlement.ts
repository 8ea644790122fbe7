/** Where the chain is with a ledger entry or hold. */
export interface Settlement {
  status: "PENDING" | "SUBMITTED" | "CONFIRMED" | "FAILED";
  network: string;
  txHash: string | null;
  blockNumber: bigint | null;
}

/** Of what is not on its way yet. */
export function pending(network: string): Settlement {
  return { status: "PENDING", network, txHash: null, blockNumber: null };
}
