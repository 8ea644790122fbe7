// Reads final blocks once, in order, and emits facts: events of our contracts, owners of addresses,
// used and cancelled authorizations. Knows no flow that consumes them.

export { assertCanonical, type CanonicalDeps } from "./commands/assertCanonical";
export { rescan } from "./commands/rescan";
export { type WalletClient } from "./commands/resolveWalletsByAddress";
export {
  type ConsumeFacts,
  type FinalRange,
  isMoving,
  scanFinalized,
  usesIn,
} from "./commands/scanFinalized";
export { createScanSpan } from "./domain/scanSpan";
export { isCancelled } from "./store/cancelledAuthorizations";
export {
  deletePaymentManagers,
  listPaymentManagers,
  lockPaymentManagers,
  savePaymentManager,
} from "./store/paymentManagers";
export { type Cursor, findCursor, findFurthestBlock } from "./store/scanCursor";
export { findUsedAuthorizations, type UsedAuthorization } from "./store/usedAuthorizations";
export { findAddresses, saveWalletAddresses, type WalletAddress } from "./store/walletAddresses";
