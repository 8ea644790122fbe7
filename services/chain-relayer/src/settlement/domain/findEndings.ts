/** The ways in which an operator can end an operation that cannot go on by itself. */
export type Decision = "settled_elsewhere" | "give_up" | "sign_anew" | "read_again" | "pass_over";

/** Wait reasons that only an operator ends. */
export const DEAD_ENDS: readonly string[] = ["name_taken", "custody_signed_otherwise"];

interface WaitingOperation {
  kind: string;
  state: string;
  waitReason: string | null;
}

/** The permitted ways; none when the operation needs no operator. */
export function findEndings({ kind, state, waitReason }: WaitingOperation): Decision[] {
  if (state === "BLOCKED") return ["read_again", "pass_over"];
  if (state !== "PLANNED" || waitReason === null || !DEAD_ENDS.includes(waitReason)) return [];
  return [
    "settled_elsewhere",
    ...(kind === "INTENT_KIND_PLACE_HOLD" ? (["give_up"] as const) : []),
    ...(waitReason === "name_taken" ? (["sign_anew"] as const) : []),
  ];
}
