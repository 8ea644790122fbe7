// The Idempotency-Keys of requests that the ledger does not decide. Auth, wallet and events use
// them. The key, the effect and the answer share one transaction.
export { deleteOldKeys } from "./deleteOldKeys";
export { type KeyedRequest, readKeyedRequest } from "./keyedRequest";
export { type Answered, claimKey, findKey, once, saveAnswer } from "./once";
