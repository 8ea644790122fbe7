// Settles ledger entries and holds on the chain: pulls, plans, authorizes, batches, decides,
// expires holds. Submits through the sender and applies the indexer's facts.

export { type Adoption, adoptPaymentManager } from "./commands/adoptPaymentManager";
export { replanUnexecuted, applyOutcomes } from "./commands/applyOutcomes";
export { assertPaymentManagerAdopted } from "./commands/assertPaymentManagerAdopted";
export { clampFutureRetries } from "./commands/clampFutureRetries";
export { correctHeads, recordHeads } from "./commands/correctHeads";
export { dispatch } from "./commands/dispatch";
export { type Ending, endOperation } from "./commands/endOperation";
export { expireHolds } from "./commands/expireHolds";
export { freezeBlockedWallets } from "./commands/freezeBlockedWallets";
export { ingestWallet } from "./commands/ingestWallet";
export { type OrderedSettlement, orderSettlement } from "./commands/orderSettlement";
export { pauseQueue, resumeQueue } from "./commands/pauseQueue";
export { type PullDeps } from "./commands/pullEntries";
export { pullExecutedEntries } from "./commands/pullExecutedEntries";
export { recordWalletBlocks } from "./commands/recordWalletBlocks";
export { type Decision, findEndings } from "./domain/findEndings";
export { isWallet } from "./domain/steps";
export { findMintingOperation, type EventOrigins } from "./queries/findEventOrigins";
export { getOperations } from "./queries/getOperations";
export { listSettlements, settlementMessage } from "./queries/listSettlements";
export {
  countOperationsOf,
  findOldestUnminedSeconds,
  findOperationsOfTransaction,
  findOperationByChainId,
  findOperationDetails,
  listOpenCounts,
  listStuckOperations,
  type OpenOperation,
} from "./store/operationDetails";
export { findOldestOpenSeconds, summarizeOpen } from "./store/openSummary";
export { countWalletBlocks, findBlockedWallets, listBlockedWallets } from "./store/walletBlocks";
export {
  countPausedQueues,
  countQueued,
  listQueues,
  pauseQueues,
  unpauseQueues,
} from "./store/settlementQueues";
