// State of money commands: ledger entry → record → message → JSON of the REST API. Payment, the
// gateway and events use it, so an answer, a record, a list and a public event agree.
export { cancellableUntil, chargeStatus } from "./charge";
export { type ChangedMetadata, withChangedMetadata } from "./changedMetadata";
export {
  type Charge,
  type ChargeCancel,
  isOriginalDetached,
  type Notes,
  type Payment,
  type PaymentCancel,
  type PaymentRefund,
  type Records,
  recordsNow,
  recordsOf,
  type Refund,
  settledIdsOf,
  type Transfer,
} from "./records";
export {
  chargeCancellationMessage,
  chargeMessage,
  paymentMessage,
  paymentRefundMessage,
  refundMessage,
  type Settled,
  settlementMessage,
  transferMessage,
} from "./messages";
export { paymentStatus } from "./payment";
export { pending, type Settlement } from "./settlement";
export {
  apiKeyJson,
  chargeCancellationJson,
  chargeJson,
  isoTime,
  requirePresent,
  paymentCancellationJson,
  paymentJson,
  paymentRefundJson,
  payoutJson,
  payoutRowJson,
  recordedTransactionJson,
  refundJson,
  restoredJson,
  settlementJson,
  transactionChangeJson,
  transferJson,
  walletJson,
  wonJson,
} from "./json";
