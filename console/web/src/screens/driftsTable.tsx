import { type ReactNode } from "react";
import { type AnswerOf } from "../api/services";
import { ActionButton } from "../blocks/actionButton";
import { OrganisationLink, WalletLink } from "../blocks/links";
import { type Column, DataTable } from "../blocks/pagedTable";
import { formatTokenUnits } from "../format/amounts";
import { formatTime } from "../format/times";

export type Drift = AnswerOf<"wonrail.relayer.v1.RelayerAdminService/ListDrifts">["drifts"][number];

export const driftColumns: readonly Column<Drift>[] = [
  { title: "Action", cell: (drift) => <AcknowledgeDrift drift={drift} /> },
  { title: "Drift", text: ({ driftId }) => driftId },
  { title: "Found at", text: ({ foundAt }) => formatTime(foundAt) },
  { title: "Kind", text: ({ kind }) => kind },
  {
    title: "Wallet",
    text: ({ walletId }) => walletId,
    cell: ({ walletId }) => <WalletLink walletId={walletId} />,
  },
  {
    title: "Organisation",
    text: ({ orgId }) => orgId,
    cell: ({ orgId }) => <OrganisationLink org={orgId} />,
  },
  {
    title: "Subject",
    text: ({ subject }) => subject,
    cell: ({ subject }) => <span className="mono">{subject}</span>,
  },
  { title: "Expected", text: ({ expected }) => formatTokenUnits(expected), align: "right" },
  { title: "Actual", text: ({ actual }) => formatTokenUnits(actual), align: "right" },
  { title: "Block", text: ({ blockNumber }) => blockNumber, align: "right" },
  {
    title: "Acknowledged",
    text: ({ acknowledgedAt, acknowledgedBy }) =>
      acknowledgedAt === undefined ? "no" : `${formatTime(acknowledgedAt)} by ${acknowledgedBy}`,
  },
  {
    title: "Resolved",
    text: ({ resolvedAt }) => (resolvedAt === undefined ? "no" : formatTime(resolvedAt)),
  },
];

export function DriftsTable({ drifts }: { drifts: readonly Drift[] }): ReactNode {
  return (
    <DataTable
      name="Open drifts"
      rows={drifts}
      columns={driftColumns}
      rowKey={({ driftId }) => driftId}
      empty="There is no open drift."
    />
  );
}

function AcknowledgeDrift({ drift: { driftId, walletId, acknowledgedAt } }: { drift: Drift }): ReactNode {
  if (acknowledgedAt !== undefined) return undefined;
  return (
    <ActionButton
      method="wonrail.relayer.v1.RelayerAdminService/AcknowledgeDrifts"
      label="Acknowledge"
      isDangerous
      consequence={
        walletId === ""
          ? `Acknowledges drift ${driftId}.`
          : `Acknowledges drift ${driftId}. The money of ${walletId} can move again when no other drift is open.`
      }
      request={() => ({ driftId })}
    />
  );
}
