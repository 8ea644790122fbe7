/** Facts of an operation that decide its next state. */
export interface OperationFacts {
  state: "WAITING" | "PLANNED" | "IN_FLIGHT" | "CONFIRMED" | "FAILED" | "PASSED" | "BLOCKED";
  /** Number of attempts. */
  attempts: number;
  /** Chain time after which none of its authorizations can be used; null without an end. */
  endsAt: bigint | null;
}

/** Certain facts about an operation, read in final blocks only. */
export type Evidence =
  /** Its event, of now or of an earlier time. */
  | { kind: "executed" }
  /**
   * Its event exists, but with other movements: a forgotten operation had its name before a
   * restore.
   */
  | { kind: "name_taken" }
  /** Its attempt failed. `settled` when others have used every one of its authorizations. */
  | { kind: "refused"; reason: string; settled: boolean }
  /** The transaction that carried it ended without an event of it. */
  | { kind: "not_carried"; reason: "not_executed" | "batch_reverted" | "nonce_taken" }
  /**
   * Looked up at a block of this time: whether it or its authorization is used. `settled` when
   * others have used every one of its authorizations.
   */
  | { kind: "looked_up"; blockTime: bigint; used: boolean; settled: boolean }
  /** Its authorization was cancelled unused, and its name is unused. */
  | { kind: "cancelled" };

export type Next =
  | { do: "confirm" }
  | { do: "retry"; reason: string; delayMs: number }
  | { do: "fail" }
  | { do: "nothing" };

const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;
/** It waits for an operator; the chain's answer will not change. */
const NAME_TAKEN_RETRY_MS = 600_000;
const NOTHING: Next = { do: "nothing" };

/**
 * Decides an operation's next state from evidence. Confirmed only by the chain's event; failed only
 * when it provably can never happen. Everything else is retried with the same name and
 * authorizations, so that two attempts pay once.
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
      // Nothing signed for it can be used any more, whatever transaction carries it.
      return over && !evidence.used ? { do: "fail" } : NOTHING;
    }
  }
}

/** Each attempt costs gas, also a failed one. */
function delayAfter(attempts: number): number {
  return Math.min(RETRY_MS * 2 ** attempts, LONGEST_RETRY_MS);
}
