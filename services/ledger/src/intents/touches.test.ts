import fc from "fast-check";
import { decide } from "./decide";
import { creditKey } from "../domain/book";
import { openState, requestsFrom, stateAfter } from "../domain/testing/requests";
import { requiredStateOf } from "./index";
import { keyOf, requestKey, type LedgerRequest } from "../domain/types";
import type { State } from "../domain/book";

/** Returns the state that the store would load for this request: only its declared accounts. */
function loaded(state: State, request: LedgerRequest): State {
  const { orgId } = request;
  const { walletIds = [], orgAccounts = [], userOfWalletId, userId, ...rest } = requiredStateOf(request);
  const { chargeRequestId, paymentRequestId, holdRequestId, chainLogId } = rest;
  const originalRequestId = chargeRequestId ?? paymentRequestId;
  const original = originalRequestId && state.requests.get(requestKey(orgId, originalRequestId))?.outcome;
  const originals =
    original && original.status === "posted" ? original.entry.postings.map(({ accountId }) => accountId) : [];
  const hold = holdRequestId && state.holds.get(requestKey(orgId, holdRequestId));
  const credit = chainLogId && state.credits.get(creditKey(orgId, chainLogId));
  const user = userId ?? state.accounts.find(({ id }) => id === userOfWalletId)?.userId;
  const ids = new Set([...walletIds, ...originals, ...(hold ? [hold.accountId] : [])]);
  const used = request.key && state.keys.get(keyOf(orgId, request.key));
  const keys = new Set([
    requestKey(orgId, request.requestId),
    ...(used ? [requestKey(orgId, used.requestId)] : []),
    ...(hold ? [requestKey(orgId, hold.requestId)] : []),
    ...(originalRequestId ? [requestKey(orgId, originalRequestId)] : []),
    ...(credit ? [credit] : []),
  ]);
  return {
    ...state,
    accounts: state.accounts.filter(
      ({ id, orgId: org, type, userId: owner }) =>
        ids.has(id) ||
        (org === orgId && (orgAccounts as string[]).includes(type)) ||
        (org === orgId && owner !== null && owner === user && (userId ?? userOfWalletId) !== undefined),
    ),
    requests: new Map([...state.requests].filter(([key]) => keys.has(key))),
    holds: new Map(hold ? [[requestKey(orgId, hold.requestId), hold]] : []),
  };
}

test("the declared state of a request suffices to decide it as with the whole state", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 280, size: "max" }), (bytes) => {
      let state = openState();
      for (const request of requestsFrom(bytes)) {
        const decision = decide(state, [request]);
        expect(decide(loaded(state, request), [request]).answers).toEqual(decision.answers);
        state = stateAfter(decision, state.nowMs);
      }
    }),
    { numRuns: 500 },
  );
});
