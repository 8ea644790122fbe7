import { assert } from "../contract/errors";
import { type Tx } from "../db";
import { type JsonObject } from "../json";
import { appendOperatorAction, type NewOperatorAction } from "./operatorActions";
import { type ActingOperator } from "./operators";
import { type ActionEffect, checkApprover, checkEffect } from "./proposalRules";
import { decideProposal, lockProposal } from "./proposals";
import { adminRuleOf } from "./rules";

/** Rolls back the action of a call that needs an approval. The call stores a proposal instead. */
export class ApprovalNeeded extends Error {
  override readonly name = "ApprovalNeeded";
  constructor(readonly action: ActionEffect) {
    super(`a second operator must approve: ${action.effect}`);
  }
}

/**
 * Records the action in the transaction of its change. An action that needs an approval states its
 * effect, computed from the locked rows.
 */
export async function recordOperatorAction(
  tx: Tx,
  operator: ActingOperator,
  action: NewOperatorAction & Partial<ActionEffect>,
): Promise<void> {
  const { orgId, subject, effect, details = {} } = action;
  const approval = await requireApproval(
    tx,
    operator,
    effect === undefined ? undefined : { ...action, effect },
  );
  await appendOperatorAction(tx, operator, {
    ...(orgId === undefined ? {} : { orgId }),
    ...{ subject, details: { ...details, ...approval } },
  });
}

const APPROVE = "wonrail.common.v1.AdminService/ApproveProposal";

/**
 * Throws ApprovalNeeded in a call that proposes. In an approval, ends the proposal in the
 * transaction of its action, and returns details for the action's audit entry. An action without an
 * effect needs no approval.
 */
export async function requireApproval(
  tx: Tx,
  operator: ActingOperator,
  action: ActionEffect | undefined,
): Promise<JsonObject> {
  const { approval } = operator;
  if (approval === undefined) return {};
  if (approval === "needed") {
    if (action) throw new ApprovalNeeded(action);
    const rule = adminRuleOf(operator.method);
    assert(rule.approval === "conditional", `${operator.method} states no effect for its approval`);
    return {};
  }
  const { proposalId } = approval;
  const proposal = await lockProposal(tx, proposalId);
  assert(proposal, `${operator.method} runs for a proposal that does not exist`);
  checkApprover(proposal, operator.name);
  checkEffect(proposal, action);
  const { method, orgId, subject, effect, proposedBy, reason } = proposal;
  const decision = { state: "APPROVED", decidedBy: operator.name, reason: operator.reason } as const;
  await decideProposal(tx, proposalId, decision);
  await appendOperatorAction(
    tx,
    { ...operator, method: APPROVE },
    {
      ...(orgId === null ? {} : { orgId }),
      ...{ subject: proposalId, details: { method, subject, effect, proposedBy } },
    },
  );
  return { proposalId, proposedBy, proposedReason: reason };
}
