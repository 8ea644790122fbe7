// Payments by x402: a merchant presents a payer's authorization (ERC-3009) to one of its wallets, and
// the relayer sends it to the token and pays the gas. `deposits` credits the money.

export { applyUses } from "./commands/applyUses";
export { depositFromFaucet, type WantedDeposit } from "./commands/depositFromFaucet";
export { sendPayments } from "./commands/sendPayments";
export { settleAndCount, verifyAndCount } from "./commands/countOutcomes";
export { type PaymentRequest } from "./domain/payment";
export { getSupport } from "./queries/getSupport";
export { closePayment, readGasToday, releasePayment } from "./store/payments";
export { createX402Metrics, type X402Metrics } from "./x402Metrics";
