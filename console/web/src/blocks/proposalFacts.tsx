import { type ReactNode } from "react";
import { type AnswerOf } from "../api/services";
import { formatWon } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords, methodWords } from "../format/words";
import { Facts } from "./facts";

export type Proposal = AnswerOf<"wonrail.common.v1.AdminService/ListProposals">["proposals"][number];

export function ProposalFacts({ proposal }: { proposal: Proposal }): ReactNode {
  const decided = proposal.decidedBy === undefined ? [] : decisionOf(proposal);
  return (
    <Facts
      items={[
        ["Effect", proposal.effect],
        ["Action", methodWords(proposal.method)],
        ["Of", proposal.subject],
        ...(proposal.orgId === undefined ? [] : ([["Organisation", proposal.orgId]] as const)),
        ...(proposal.amountWon === undefined ? [] : ([["Amount", formatWon(proposal.amountWon)]] as const)),
        ["State", enumWords(proposal.state, "PROPOSAL_STATE_")],
        ["Role of the approver", enumWords(proposal.role, "OPERATOR_ROLE_")],
        ["Proposed by", proposal.proposedBy],
        ["Reason", proposal.reason],
        ["Proposed at", formatTime(proposal.proposedAt)],
        ["Approve before", formatTime(proposal.expiresAt)],
        ["Proposal", <span className="mono">{proposal.proposalId}</span>],
        ...decided,
      ]}
    />
  );
}

function decisionOf({ decidedBy, decisionReason, decidedAt }: Proposal): (readonly [string, ReactNode])[] {
  return [
    ["Decided by", decidedBy],
    ["Reason of the decision", decisionReason],
    ["Decided at", formatTime(decidedAt)],
  ];
}
