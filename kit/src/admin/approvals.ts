import { assert } from "../contract/errors";
import { newId } from "../contract/ids";
import { type Database, tx } from "../db";
import { type ServerCall } from "../grpc/server";
import { appendOperatorAction } from "./operatorActions";
import { type ActingOperator, requireRole } from "./operators";
import {
  checkApprover,
  checkOpen,
  isSameOperator,
  type ActionEffect,
  type Proposal,
  refused,
} from "./proposalRules";
import { decideProposal, findOpenProposal, findProposal, insertProposal, lockProposal } from "./proposals";
import { adminRuleOf } from "./rules";

/** A call with its operator. The kit has checked the role and the reason. */
export interface AdminCall extends ServerCall {
  readonly operator: ActingOperator;
}

/** The action of a method that a second operator approves. It takes the bytes of its request. */
export type ApprovedAction = (request: Buffer, call: AdminCall) => Promise<unknown>;

/** The same call of the same operator finds its open proposal again. */
export function propose(
  { db }: { db: Database },
  request: Buffer,
  effect: ActionEffect,
  operator: ActingOperator,
): Promise<Proposal> {
  const { name: proposedBy, reason, method } = operator;
  return tx(db, async (tx) => {
    const proposalId = newId("prp");
    const stored = await insertProposal(tx, { ...effect, proposalId, method, request, proposedBy, reason });
    if (!stored) return findOwnProposal(await findOpenProposal(tx, method, request), proposedBy);
    const { orgId, subject, effect: text, amountWon } = stored;
    const amount = amountWon === null ? {} : { amountWon: amountWon.toString() };
    const details = { proposed: true, subject, effect: text, ...amount };
    await appendOperatorAction(tx, operator, {
      ...(orgId === null ? {} : { orgId }),
      ...{ subject: proposalId, details },
    });
    return stored;
  });
}

function findOwnProposal(open: Proposal | undefined, operator: string): Proposal {
  assert(open, "an equal proposal was open in this transaction");
  if (isSameOperator(open.proposedBy, operator)) return open;
  const { proposalId, proposedBy } = open;
  throw refused("proposalId", `${proposedBy} has proposed the same in ${proposalId}. Approve or reject that`);
}

/** Runs the action of another operator's proposal. The action's transaction ends the proposal. */
export async function approveProposal(
  { db, actions }: { db: Database; actions: ReadonlyMap<string, ApprovedAction> },
  proposalId: string,
  call: AdminCall,
): Promise<Proposal> {
  const { operator } = call;
  const proposal = await mustFind(db, proposalId, operator);
  if (proposal.state === "APPROVED" && proposal.decidedBy === operator.name) return proposal;
  checkApprover(proposal, operator.name);
  const { method, request } = proposal;
  const action = actions.get(method);
  if (!action) throw refused("proposalId", `this release has no action ${method}. Reject the proposal`);
  await action(request, { ...call, operator: { ...operator, method, approval: { proposalId } } });
  const after = await mustFind(db, proposalId, operator);
  assert(after.state === "APPROVED", `${method} ran without the end of ${proposalId}`);
  return after;
}

/** Ends a proposal without its action. The operator who proposed it needs no role for that. */
export async function rejectProposal(
  { db }: { db: Database },
  proposalId: string,
  operator: ActingOperator,
): Promise<Proposal> {
  return tx(db, async (tx) => {
    const proposal = await lockProposal(tx, proposalId);
    if (!proposal) throw noProposal(proposalId);
    const isOwn = isSameOperator(proposal.proposedBy, operator.name);
    if (!isOwn) requireRole(adminRuleOf(proposal.method).role, operator);
    checkOpen(proposal);
    const state = isOwn ? "WITHDRAWN" : "REJECTED";
    const decision = { state, decidedBy: operator.name, reason: operator.reason } as const;
    const decided = await decideProposal(tx, proposalId, decision);
    const { method, orgId, subject, effect, proposedBy } = proposal;
    await appendOperatorAction(tx, operator, {
      ...(orgId === null ? {} : { orgId }),
      ...{ subject: proposalId, details: { state, method, subject, effect, proposedBy } },
    });
    return decided;
  });
}

async function mustFind(db: Database, proposalId: string, operator: ActingOperator): Promise<Proposal> {
  const proposal = await findProposal(db, proposalId);
  if (!proposal) throw noProposal(proposalId);
  requireRole(adminRuleOf(proposal.method).role, operator);
  return proposal;
}

function noProposal(proposalId: string): Error {
  return refused("proposalId", `there is no proposal ${proposalId} in this service`);
}
