// Compares chain, indexed movements and ledger. A difference becomes a drift, which stops the
// outflow of its wallet until an operator acknowledges it.

export { measureBooks, reconcile } from "./commands/reconcile";
export { recordMovements } from "./commands/recordMovements";
export { createReconcileGauges } from "./reconcileGauges";
export { acknowledgeDrifts, listDrifts } from "./store/drifts";
