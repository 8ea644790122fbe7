// Compares chain, indexed movements and ledger. A difference becomes a drift, which stops the
// outflow of its wallet until an operator acknowledges it.

export { acknowledge } from "./commands/acknowledge";
export { measureBooks, reconcile } from "./commands/reconcile";
export { recordMovements } from "./commands/recordMovements";
export { readWalletBook } from "./queries/readBooks";
export { createReconcileGauges } from "./reconcileGauges";
export { countOpenDrifts, type Drift, listDrifts, listDriftsOfWallet } from "./store/drifts";
export { findReconciliation, listSupplyPoints } from "./store/reconciliation";
