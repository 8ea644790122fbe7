import { invalidRequest } from "../contract/errors";
import { type Won } from "../contract/money";

export type ProposalStateName = "OPEN" | "APPROVED" | "REJECTED" | "WITHDRAWN" | "EXPIRED";

/** The effect of an action, computed from the locked rows for the proposal and for the approval. */
export interface ActionEffect {
  /** Absent when the action concerns no single organisation. */
  orgId?: string;
  /** The id of the changed object. */
  subject: string;
  /** Absent when the action has no single amount. */
  amountWon?: Won;
  /** A sentence for the approver. It must name every value that the action sets. */
  effect: string;
}

/** An action that waits for a second operator, or its end. */
export interface Proposal {
  proposalId: string;
  state: ProposalStateName;
  method: string;
  request: Buffer;
  orgId: string | null;
  subject: string;
  amountWon: Won | null;
  effect: string;
  proposedBy: string;
  reason: string;
  proposedAt: Date;
  expiresAt: Date;
  decidedBy: string | null;
  decisionReason: string | null;
  decidedAt: Date | null;
}

/** Identity providers and accounts may write one name in several cases. */
export function isSameOperator(one: string, other: string): boolean {
  return one.normalize("NFKC").toLowerCase() === other.normalize("NFKC").toLowerCase();
}

/** Refuses the approval of a proposal by its own operator, and of one that is not open. */
export function checkApprover(proposal: Proposal, approver: string): void {
  checkOpen(proposal);
  if (isSameOperator(proposal.proposedBy, approver))
    throw refused("operator.name", `${approver} proposed this action. Another operator must approve it`);
}

export function checkOpen({ proposalId, state, decidedBy }: Proposal): void {
  if (state === "OPEN") return;
  const by = decidedBy === null ? "" : ` by ${decidedBy}`;
  const remedy = state === "APPROVED" ? "" : ". Propose the action again";
  throw refused("proposalId", `${proposalId} is ${state}${by}${remedy}`);
}

/** Refuses an action that would now do something else than its approver read. */
export function checkEffect(proposal: Proposal, now: ActionEffect | undefined): void {
  const isSame =
    proposal.subject === now?.subject &&
    proposal.orgId === (now.orgId ?? null) &&
    proposal.amountWon === (now.amountWon ?? null) &&
    proposal.effect === now.effect;
  if (isSame) return;
  const effect = now === undefined ? "" : ` It would now do this: ${now.effect}`;
  throw refused(
    "proposalId",
    `the action would no longer do what was proposed.${effect} Reject the proposal and propose again`,
  );
}

export function refused(path: string, message: string): Error {
  return invalidRequest([{ path, message }]);
}
