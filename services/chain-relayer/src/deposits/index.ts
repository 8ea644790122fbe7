// Tokens from outside: detect them in final blocks, hold back what cannot be booked, and have the
// ledger credit the rest.

export { creditDeposits } from "./commands/creditDeposits";
export { recordDeposits } from "./commands/recordDeposits";
export {
  countUncreditedDeposits,
  type DepositView,
  findDeposit,
  listDepositsOfTransaction,
} from "./store/deposits";
