/** An operation, as far as what comes next depends on it. */
export interface OperationFacts {
  state: "WAITING" | "PLANNED" | "IN_FLIGHT" | "CONFIRMED" | "FAILED" | "PASSED" | "BLOCKED";
  /** How often it was sent. */
  attempts: number;
  /** Chain time after which none of its authorizations can be used; null when it is tried for ever. */
  endsAt: bigint | null;
}

/** What is certain about an operation: each of these was read in final blocks, never in newer ones. */
export type Evidence =
  /** Its event, of now or of an earlier time. */
  | { kind: "executed" }
  /** Its event, and what was moved then is not what it asks for: another one had its name, whom a restore has made forget. */
  | { kind: "name_taken" }
  /** Its try failed. `settled` when others have used every one of its authorizations. */
  | { kind: "refused"; reason: string; settled: boolean }
  /** The transaction that carried it is over, and said nothing of it. */
  | { kind: "not_carried"; reason: "not_executed" | "batch_reverted" | "nonce_taken" }
  /** Looked up at a block of this time: is it or its authorization used? `settled` when others have used every one of its authorizations. */
  | { kind: "looked_up"; blockTime: bigint; used: boolean; settled: boolean }
  /** Its authorization was cancelled before anybody has used it, and its name is unused. */
  | { kind: "cancelled" };

export type Next =
  | { do: "confirm" }
  | { do: "retry"; reason: string; delayMs: number }
  | { do: "fail" }
  | { do: "nothing" };

const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;
/** It waits for somebody to look at it; what the chain says then is the same. */
const NAME_TAKEN_RETRY_MS = 600_000;
const NOTHING: Next = { do: "nothing" };

/**
 * What becomes of an operation, given what is known. Confirmed only by the chain's own word; failed only when it is proven that it can never
 * happen; anything else is tried again, under the same name and with the same authorizations, so that trying twice pays once.
 */
export function decideNext({ state, attempts, endsAt }: OperationFacts, evidence: Evidence): Next {
  if (state !== "WAITING" && state !== "PLANNED" && state !== "IN_FLIGHT") return NOTHING;
  switch (evidence.kind) {
    case "executed":
      return { do: "confirm" };
    case "name_taken":
      return { do: "retry", reason: "name_taken", delayMs: NAME_TAKEN_RETRY_MS };
    case "refused":
      if (evidence.settled) return { do: "confirm" };
      return { do: "retry", reason: evidence.reason, delayMs: delayAfter(attempts) };
    case "not_carried":
      return state === "IN_FLIGHT"
        ? { do: "retry", reason: evidence.reason, delayMs: delayAfter(attempts) }
        : NOTHING;
    case "cancelled":
      return endsAt === null ? NOTHING : { do: "fail" };
    case "looked_up": {
      if (evidence.settled) return { do: "confirm" };
      const over = endsAt !== null && evidence.blockTime > endsAt;
      // Whatever transaction carries it: nothing that is signed for it can be used any more.
      return over && !evidence.used ? { do: "fail" } : NOTHING;
    }
  }
}

/** Each try costs gas, also one that comes to nothing. */
function delayAfter(attempts: number): number {
  return Math.min(RETRY_MS * 2 ** attempts, LONGEST_RETRY_MS);
}
