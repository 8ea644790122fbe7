import type { ErrorCode } from "@wonrail/kit/contract/errors";

export interface Advice {
  operator: string;
  support: string;
}

const NOTHING = "Nothing.";
const READ_ID = "Check the id and the organisation's code. A foreign id answers like a missing one.";
const FIX_REQUEST = "Explain the rule. The partner must correct the request.";

/** The parts of operator and support for each code. The caller's part is the code's message. */
export const errorAdvice: Record<ErrorCode, Advice> = {
  WAUTH_001: {
    operator:
      "If many keys are refused, follow the runbook KeysRefusedOften. Issue a new key with `key issue`.",
    support: "Ask for the key's prefix, never for the key. Look it up with `key list`.",
  },
  WAUTH_002: {
    operator: "Nothing. If the partner lost its secret key, rotate it with `org rotate-secret`.",
    support: "Point to POST /api/wallet-auth/refresh, which accepts an expired key.",
  },
  WAUTH_003: {
    operator: "Extend the subscription with `org set --subscription-ends`, or set the status to ACTIVE.",
    support: "Check the contract, then ask the operator to extend it.",
  },
  WAUTH_004: {
    operator: "Change the plan with `org set --plan` if the contract allows more.",
    support: "Compare the usage in GET /api/wallet-auth/session with the plan.",
  },
  WAUTH_005: {
    operator: "Issue a key with the scope: `key issue --scopes`.",
    support: "Tell the partner to use a key with the scope in `details.scope`, or to issue one.",
  },
  WAUTH_006: {
    operator: "If all callers have a proxy's address, check TRUSTED_PROXY_HOPS of the gateway.",
    support: "Compare `details.address` with the allow-list in `key list`.",
  },
  WAUTH_007: { operator: NOTHING, support: READ_ID },
  WAUTH_008: { operator: NOTHING, support: "Tell the partner to revoke keys that are not used." },
  WAL_001: { operator: NOTHING, support: "Tell the partner to use the wallet in `details.walletId`." },
  WAL_002: { operator: NOTHING, support: READ_ID },
  WAL_003: { operator: NOTHING, support: "Read the wallet's balance and its transfers with status PENDING." },
  WAL_004: {
    operator: "Reactivate the wallet with `wallet reopen` if tokens reached it after its deactivation.",
    support: "Ask whether the deactivation was intended, then ask the operator.",
  },
  WAL_005: { operator: "Check why the wallet is frozen.", support: "Do not name the reason of a freeze." },
  EVT_001: {
    operator: NOTHING,
    support: "Check the id, the organisation's code and the event's age: events are kept for 30 days.",
  },
  EVT_002: {
    operator: NOTHING,
    support: "Tell the partner to read the objects again, then to go on after `details.oldestAfter`.",
  },
  WHK_001: { operator: NOTHING, support: "Check the webhook's id and the organisation's code." },
  WHK_002: { operator: NOTHING, support: "Tell the partner which rule for URLs `details.reason` names." },
  WHK_003: { operator: NOTHING, support: "Tell the partner to delete webhooks that are no longer used." },
  TRF_001: {
    operator: NOTHING,
    support: "Compare `details.available` with the holds of transfers under way.",
  },
  TRF_002: { operator: NOTHING, support: "Ask for the address as it was sent, with its letter case." },
  TRF_003: {
    operator: "Raise the limit with `org set --daily-limit` if the contract allows more.",
    support: "Read the used amount in `details`. The limit starts anew at midnight in Asia/Seoul.",
  },
  TRF_004: { operator: NOTHING, support: "Explain that NORMAL wallets alone send and receive transfers." },
  TRF_005: { operator: NOTHING, support: READ_ID },
  CHG_001: { operator: NOTHING, support: FIX_REQUEST },
  CHG_002: { operator: NOTHING, support: READ_ID },
  CHG_003: { operator: NOTHING, support: "Read the charge and show its cancellations." },
  CHG_004: { operator: NOTHING, support: "Explain the 30 days. The user can refund the wallet instead." },
  CHG_005: { operator: NOTHING, support: "Read `details.remaining` to the partner." },
  CHG_006: { operator: NOTHING, support: "The user spent the money. Agree on a smaller amount." },
  CHG_007: { operator: NOTHING, support: "Read `details.reason`. Held money becomes available or leaves." },
  CHG_008: {
    operator: "Raise the organisation's daily charge limit if the contract allows more.",
    support: "The limit starts anew at midnight in Asia/Seoul.",
  },
  PAY_001: { operator: NOTHING, support: "Read the balances of all wallets of the payer." },
  PAY_002: { operator: NOTHING, support: FIX_REQUEST },
  PAY_003: { operator: NOTHING, support: "Read the payment and show its cancellation." },
  PAY_004: { operator: NOTHING, support: READ_ID },
  PAY_005: { operator: NOTHING, support: FIX_REQUEST },
  PAY_006: { operator: NOTHING, support: FIX_REQUEST },
  PAY_007: { operator: NOTHING, support: "Advise a payment or transfer in the other direction." },
  PAY_008: { operator: NOTHING, support: "Read the payment and advise a refund of the rest." },
  PAY_009: { operator: NOTHING, support: "Read the payment and show its refunds." },
  PYO_001: { operator: NOTHING, support: READ_ID },
  SBX_001: { operator: NOTHING, support: READ_ID },
  SBX_002: { operator: NOTHING, support: "Point to the memo `sandbox:settlement_held`." },
  SBX_003: {
    operator: "Set `FAUCET_KEY` of chain-relayer, or send tokens to the address of that key.",
    support: "Read `details.reason`.",
  },
  TX_001: { operator: NOTHING, support: READ_ID },
  TX_002: { operator: NOTHING, support: "Point to the record in `details.id`." },
  TX_003: { operator: NOTHING, support: "Read the record's history. CONFIRMED and FAILED are final." },
  TX_004: { operator: NOTHING, support: "Read `details.reason` and the record's history." },
  REQ_001: {
    operator: NOTHING,
    support: "Ask for `details.fields` and compare them with the REST reference.",
  },
  REQ_002: { operator: NOTHING, support: "This release does not answer this code." },
  REQ_003: {
    operator: NOTHING,
    support: "The partner reuses a key for another request. Advise one key per business event.",
  },
  REQ_004: { operator: NOTHING, support: "Compare `details.path` with the REST reference." },
  REQ_005: { operator: NOTHING, support: "Compare the method with the REST reference." },
  REQ_006: { operator: NOTHING, support: FIX_REQUEST },
  REQ_007: { operator: NOTHING, support: FIX_REQUEST },
  REQ_008: { operator: NOTHING, support: "Name the versions of `details.versions` to the partner." },
  SIG_001: {
    operator: "Follow the runbook SignerRefuses. The code stays between services.",
    support: "Partners do not receive this code.",
  },
  RATE_001: {
    operator: "Raise the rate with `org set --rate` if the contract allows more.",
    support: "Ask whether the partner waits for `Retry-After` and shares one client.",
  },
  SYS_001: {
    operator: "Search the logs for the requestId and report a bug.",
    support: "Ask for the requestId. Tell the partner to repeat with the same key.",
  },
  SYS_002: {
    operator: "Check the alerts ProcessDown, BreakerOpen and GatewayErrorBudgetBurns.",
    support: "Tell the partner to repeat with the same key.",
  },
  SYS_003: {
    operator: "Check the alerts. Verify the books with `npx wonrail verify` after an outage.",
    support: "Tell the partner to repeat with the same key, never with a new one.",
  },
  SYS_004: { operator: "Check which release runs.", support: "Name the release that has the operation." },
};
