import { tx, type Database, type Tx } from "@wonrail/kit/db";
import { chunksOf } from "@wonrail/kit/chunksOf";
import { hexOf } from "@wonrail/kit/contract/ids";
import { ZERO_WON, sumWon, type Won } from "@wonrail/kit/contract/money";
import { holdAfter } from "../domain/holds";
import {
  requestKey,
  type Entry,
  type HoldAfter,
  type JournalEntry,
  type Outcome,
  type RequestRef,
} from "../domain/types";
import { findCancelledCharges } from "../store/cancelledCharges";
import { findCancelledPayments } from "../store/cancelledPayments";
import { findRefundedPayments } from "../store/refundedPayments";
import { findCancellations, findEntries, type StoredRequest } from "../store/entries";
import { findHolds } from "../store/holds";
import { entryBytes, MAX_PAGE_BYTES } from "./entryBytes";

/** A decided request and its state now. */
export interface RequestState {
  requestId: string;
  origin: JournalEntry["origin"];
  outcome: Outcome;
  /** The current state of the hold that the request placed. */
  hold: HoldAfter | null;
  cancelledWon: Won;
  /** Oldest first, the newest hundred. */
  cancellations: Entry[];
}

const MAX_CANCELLATIONS = 100;
/** Requests that are read at once: each may have a hundred cancellations. */
const REQUESTS_AT_ONCE = 250;
/** Ids, hold and sums of a request's state. */
const STATE_BYTES = 400;
const REFUSAL_BYTES = 4_000;

export interface Answered {
  requests: RequestState[];
  /** The ids that had no room in the answer. */
  unanswered: string[];
}

/** Returns requests by their ids as they are now, from one snapshot. Unknown ids are left out. */
export async function getEntries(db: Database, orgId: string, requestIds: string[]): Promise<Answered> {
  const ids = [...new Set(requestIds)];
  return tx(db, (tx) => readPage(tx, orgId, ids), { isolation: "repeatable read", readOnly: true });
}

async function readPage(tx: Tx, orgId: string, ids: string[]): Promise<Answered> {
  const requests: RequestState[] = [];
  let bytes = 0;
  for (const chunk of chunksOf(ids, REQUESTS_AT_ONCE)) {
    const wanted = chunk.map((requestId) => ({ orgId, requestId }));
    const states = new Map((await readStates(tx, wanted)).map((state) => [hexOf(state.requestId), state]));
    for (const id of chunk) {
      const state = states.get(hexOf(id));
      if (!state) continue;
      bytes += stateBytes(state);
      if (requests.length > 0 && bytes > MAX_PAGE_BYTES)
        return { requests, unanswered: ids.slice(ids.indexOf(id)) };
      requests.push(state);
    }
  }
  return { requests, unanswered: [] };
}

/** An upper bound of the bytes that a state takes in a message, which has cancellations without their original. */
function stateBytes({ outcome, cancellations }: RequestState): number {
  const own = outcome.status === "posted" ? entryBytes(outcome.entry) : REFUSAL_BYTES;
  return cancellations.reduce(
    (sum, entry) => sum + entryBytes({ ...entry, original: null }),
    own + STATE_BYTES,
  );
}

async function readStates(tx: Tx, wanted: RequestRef[]): Promise<RequestState[]> {
  const found = await findEntries(tx, wanted);
  const ofKind = (kind: StoredRequest["kind"]) => found.filter((request) => request.kind === kind);
  const [holds, charges, payments] = [ofKind("placeHold"), ofKind("charge"), ofKind("payment")];
  const [stored, cancelledCharges, cancelledPayments, refundedPayments, cancellations] = await Promise.all([
    holds.length === 0 ? [] : findHolds(tx, holds),
    charges.length === 0 ? new Map<string, Won>() : findCancelledCharges(tx, charges),
    payments.length === 0 ? new Set<string>() : findCancelledPayments(tx, payments),
    payments.length === 0 ? new Map<string, Won>() : findRefundedPayments(tx, payments),
    findCancellations(tx, [...charges, ...payments], MAX_CANCELLATIONS),
  ]);
  const holdsByKey = new Map(stored.map((hold) => [requestKey(hold.orgId, hold.requestId), holdAfter(hold)]));
  const cancellationsByKey = groupByOriginal(cancellations);
  return found.map(({ orgId, requestId, origin, answer: { outcome } }) => {
    const key = requestKey(orgId, requestId);
    const inPartsWon = cancelledCharges.get(key) ?? refundedPayments.get(key);
    const cancelledWon = inPartsWon ?? (cancelledPayments.has(key) ? paidWon(outcome) : ZERO_WON);
    return {
      requestId,
      origin,
      outcome,
      hold: holdsByKey.get(key) ?? null,
      cancelledWon,
      cancellations: cancellationsByKey.get(key) ?? [],
    };
  });
}

function groupByOriginal(cancellations: Entry[]): Map<string, Entry[]> {
  const byKey = new Map<string, Entry[]>();
  for (const entry of cancellations) {
    if (!entry.original) continue;
    const key = requestKey(entry.orgId, entry.original.requestId);
    byKey.set(key, [...(byKey.get(key) ?? []), entry]);
  }
  return byKey;
}

/** The amount that a payment's receiver got. */
function paidWon(outcome: Outcome): Won {
  if (outcome.status === "refused") return ZERO_WON;
  const received = outcome.entry.postings.filter(
    ({ type, amountWon }) => type === "PAYMENT" && amountWon > 0n,
  );
  return sumWon(received.map(({ amountWon }) => amountWon));
}
