// Settles ledger entries and holds on the chain: ingest, plan, authorize, batch, decide what is next,
// expire holds. It submits by the sender and applies the indexer's facts.

export { type Adoption, adoptPaymentManager } from "./commands/adoptPaymentManager";
export { applyNotCarried, applyOutcomes } from "./commands/applyOutcomes";
export { assertPaymentManagerAdopted } from "./commands/assertPaymentManagerAdopted";
export { clampFutureRetries } from "./commands/clampFutureRetries";
export { dispatch } from "./commands/dispatch";
export { type Ending, endOperation } from "./commands/endOperation";
export { expireHolds } from "./commands/expireHolds";
export { ingestEntries, ingestHold, ingestWallet, type Origin } from "./commands/ingest";
export { createBacklog, type ReceivedEntry, receiveEntries } from "./commands/receiveEntries";
export { recordWalletBlocks } from "./commands/recordWalletBlocks";
export { ingestExecutedEntries, type ShelfDeps } from "./commands/takeOffShelf";
export { isWallet } from "./domain/steps";
export { mintingOperation, type Orders } from "./queries/findOrders";
export { getOperations } from "./queries/getOperations";
export {
  findOldestUnminedSeconds,
  findOperationDetails,
  listOpenCounts,
  listStuckOperations,
} from "./store/operationDetails";
export { type Decision } from "./store/operatorDecisions";
export { countPausedLanes, listLanes, setLanePause } from "./store/settlementQueues";
export { countShelved, findOnShelf, listShelvedLanes } from "./store/shelf";
