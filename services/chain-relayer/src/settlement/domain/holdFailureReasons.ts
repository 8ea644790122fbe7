/** An operator has decided that the hold is not tried again. */
export const GIVEN_UP = "given_up_by_operator";

/** A partner has ordered the failure in the sandbox of a test network. */
export const FAILED_IN_SANDBOX = "failed_in_sandbox";

/**
 * Refusals caused by the hold itself: its wallet, its receiver or its amount. Only these can end a
 * hold as FAILED. A pause, a missing role, fees, an outage, an hourly limit or a backlog is ours:
 * the hold is retried while that lasts. So is `signed_otherwise`: another authorization for the
 * same leg may have been used, which the hold's own nonce does not show.
 */
export const HOLD_FAILURE_REASONS: readonly string[] = [
  "AccountBlocked",
  "ERC20InsufficientBalance",
  "ERC20InvalidReceiver",
  "ERC3009UsedAuthorization",
  "custody_malformed",
  "custody_unknown_wallet",
  "custody_unknown_operation",
  "custody_not_in_operation",
  "custody_leg_over_limit",
  GIVEN_UP,
  FAILED_IN_SANDBOX,
];
