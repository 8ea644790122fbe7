import { NativeSelect } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { call } from "../api/call";
import { pageAfter } from "../api/paging";
import { type RoleName } from "../api/roles";
import { mayUse } from "../api/roles";
import { type RequestOf, type ServiceName } from "../api/services";
import { currentSession } from "../api/session";
import { ActionButton } from "../blocks/actionButton";
import { PagedTable } from "../blocks/pagedTable";
import { type Proposal, ProposalFacts } from "../blocks/proposalFacts";
import { Section } from "../blocks/section";
import { formatWon } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords, methodWords } from "../format/words";

const LIST = "wonrail.common.v1.AdminService/ListProposals";
const PAGE = 100;
const REFETCH_MS = 5_000;
/** The other services own no action that needs an approval. */
const OWNERS: readonly ServiceName[] = ["chain-relayer", "ledger", "wallet", "auth"];
const STATES = ["OPEN", "APPROVED", "REJECTED", "WITHDRAWN", "EXPIRED"] as const;
type State = NonNullable<RequestOf<typeof LIST>["state"]>;

export function Approvals(): ReactNode {
  const [state, setState] = useState<State>("PROPOSAL_STATE_OPEN");
  return (
    <>
      <h1>Approvals</h1>
      <div className="filters">
        <NativeSelect
          label="State"
          value={state}
          data={STATES.map((name) => ({ value: `PROPOSAL_STATE_${name}`, label: enumWords(name) }))}
          onChange={({ currentTarget }) => setState(currentTarget.value as State)}
        />
      </div>
      {OWNERS.map((service) => (
        <Section key={service} title={`Proposals of ${service}`}>
          <ProposalsTable service={service} state={state} />
        </Section>
      ))}
    </>
  );
}

function ProposalsTable({ service, state }: { service: ServiceName; state: State }): ReactNode {
  return (
    <PagedTable
      name={`Proposals of ${service}`}
      method={LIST}
      filters={[state]}
      refetchMs={REFETCH_MS}
      load={async (beforeId, signal) => {
        const position = beforeId === undefined ? {} : { beforeId };
        const { proposals } = await call(LIST, { state, limit: PAGE, ...position }, { service, signal });
        return pageAfter(proposals, PAGE, ({ proposalId }) => proposalId);
      }}
      rowKey={({ proposalId }) => proposalId}
      empty={`There is no ${enumWords(state, "PROPOSAL_STATE_")} proposal.`}
      columns={[
        { title: "Decision", cell: (proposal) => <Decision service={service} proposal={proposal} /> },
        { title: "Proposed at", text: ({ proposedAt }) => formatTime(proposedAt) },
        { title: "By", text: ({ proposedBy }) => proposedBy },
        { title: "Action", text: ({ method }) => methodWords(method) },
        {
          title: "Effect",
          text: ({ effect }) => effect,
          cell: ({ effect }) => <span className="wrap">{effect}</span>,
        },
        { title: "Amount", text: ({ amountWon }) => formatWon(amountWon), align: "right" },
        {
          title: "Of",
          text: ({ subject }) => subject,
          cell: ({ subject }) => <span className="mono">{subject}</span>,
        },
        {
          title: "Reason",
          text: ({ reason }) => reason,
          cell: ({ reason }) => <span className="wrap">{reason}</span>,
        },
        { title: "Approve before", text: ({ expiresAt }) => formatTime(expiresAt) },
        { title: "Decided by", text: ({ decidedBy }) => decidedBy ?? "" },
      ]}
    />
  );
}

function Decision({ service, proposal }: { service: ServiceName; proposal: Proposal }): ReactNode {
  const { operator } = currentSession();
  const { proposalId, effect, proposedBy } = proposal;
  if (proposal.state !== "PROPOSAL_STATE_OPEN") return enumWords(proposal.state, "PROPOSAL_STATE_");
  const role = enumWords(proposal.role, "OPERATOR_ROLE_") as RoleName;
  const isOwn = proposedBy.toLowerCase() === operator.name.toLowerCase();
  if (!isOwn && !mayUse({ role }, operator.roles)) return `You need the role ${role} to decide.`;
  return (
    <>
      <ActionButton
        method="wonrail.common.v1.AdminService/ApproveProposal"
        service={service}
        label="Approve"
        consequence={
          <>
            {effect} {isOwn ? "You proposed it, so another operator must approve it." : ""}
          </>
        }
        request={() => ({ proposalId })}
        result={({ approved }) => approved && <ProposalFacts proposal={approved} />}
      />{" "}
      <ActionButton
        method="wonrail.common.v1.AdminService/RejectProposal"
        service={service}
        label={isOwn ? "Withdraw" : "Reject"}
        isDangerous
        consequence="Ends the proposal. Its action does not happen."
        request={() => ({ proposalId })}
      />
    </>
  );
}
