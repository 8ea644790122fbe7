/** Explanations of the relayer's wait reasons, each with its remedy. */
const MEANINGS: Record<string, string> = {
  AccountBlocked: "the token's blocklist has one of its wallets, until the issuer of the token unblocks it",
  ERC20InsufficientBalance: "the payer's tokens have not arrived on the chain yet",
  EnforcedPause: "the token is paused on the chain; its pauser decides",
  MintAllowanceExceeded: "the allowance for mints is used up; the contract's admin renews it",
  MintCapExceeded: "the mint cap of 24 hours is used up; it goes on by itself",
  batch_reverted: "the chain took back its transaction; it is sent again by itself",
  custody_malformed: "custody cannot read the request; it cannot settle, so find its origin",
  custody_signed_otherwise: "custody signed another transfer under its name; an operator must end it",
  drift: "the chain and the books differ in one of its wallets; see Reconciliation",
  fee_above_cap: "the chain's fee is above FEE_CAP_GWEI; it goes on when the fee falls",
  held_up: "an earlier operation of its wallets waits; see “Waits behind”",
  name_in_use: "a restored ledger gave it the number of another entry; an operator must end it",
  name_taken: "another entry was executed under its name after a restore; an operator must end it",
  nonce_unclear: "the chain knows more transactions of the signer than the relayer; check the endpoints",
  not_executed: "its transaction went through without it; it is sent again by itself",
  operator_role_missing: "the signer lacks its role in the contract; the contract's admin grants it",
  payment_manager_replaced: "this relayer has the address of the old payment manager; update it",
  queue_paused: "an operator paused the queue of its organisation; resume the queue",
  signer_out_of_gas: "the signer's account lacks coins for gas; send it some",
  unreadable: "the relayer cannot read the ledger's entry; an operator must end it",
};

export function meaningOf(reason: string): string | undefined {
  return MEANINGS[reason];
}

/** "queue_paused: an operator paused …". A reason without an explanation is returned as it is. */
export function explainReason(reason: string | undefined): string | undefined {
  const meaning = MEANINGS[reason ?? ""];
  return meaning === undefined ? reason : `${reason}: ${meaning}`;
}
