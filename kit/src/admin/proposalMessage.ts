import { type Proposal as ProposalMessage, ProposalState } from "@wonrail/proto/common/v1/common";
import { formatWon } from "../contract/money";
import { roleMessage } from "./operators";
import { type Proposal } from "./proposalRules";
import { adminRuleOf } from "./rules";

export function proposalMessage({ request: _request, ...proposal }: Proposal): ProposalMessage {
  const { state, method, orgId, amountWon, decidedBy, decisionReason, decidedAt } = proposal;
  return {
    ...proposal,
    state: ProposalState[state],
    role: roleMessage(adminRuleOf(method).role),
    orgId: orgId ?? undefined,
    amountWon: amountWon === null ? undefined : formatWon(amountWon),
    decidedBy: decidedBy ?? undefined,
    decisionReason: decisionReason ?? undefined,
    decidedAt: decidedAt ?? undefined,
  };
}
