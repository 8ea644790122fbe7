// Sends transactions of one signer: lease, nonces, signed bytes, replacements, nonce gaps. Knows
// calldata and the id of a stored transaction; the caller knows the calldata's purpose.

export { findFinalTransactions } from "./commands/findFinalTransactions";
export { findGasBudget, type GasBudget } from "./commands/findGasBudget";
export { pruneSignedBytes } from "./commands/pruneSignedBytes";
export { recoverFromRetiredSigner } from "./commands/recoverFromRetiredSigner";
export { submit } from "./commands/submit";
export { type ReleaseReason, type WatchDeps, watchTransactions } from "./commands/watchTransactions";
export {
  findSignerFunds,
  findSignerState,
  findTransactionByHash,
  listPendingTransactions,
  type PendingTransaction,
  recordBalance,
  type SignerFunds,
} from "./store/signerViews";
export {
  countPendingTransactions,
  acquireLease,
  type Lease,
  LeaseLostError,
  lockPlanning,
  markTransaction,
  releaseLease,
  renewLeaseDuring,
} from "./store/transactions";
