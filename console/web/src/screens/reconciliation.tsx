import { Checkbox } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { call } from "../api/call";
import { useRpc } from "../api/hooks";
import { useLiveAnswer } from "../api/live";
import { Chart } from "../blocks/chart";
import { Facts } from "../blocks/facts";
import { DataTable, PagedTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Loaded } from "../blocks/states";
import { formatCount, formatTokenUnits } from "../format/amounts";
import { formatTime } from "../format/times";
import { driftColumns } from "./driftsTable";

const DRIFTS = "wonrail.relayer.v1.RelayerAdminService/ListDrifts";
const HOURS = 744;
const UNITS_PER_TOKEN = 1_000_000;

export function Reconciliation(): ReactNode {
  return (
    <>
      <h1>Reconciliation</h1>
      <ChainSection />
      <LedgerSection />
      <DriftsSection />
    </>
  );
}

function ChainSection(): ReactNode {
  const state = useRpc("wonrail.relayer.v1.RelayerAdminService/GetReconciliation", { hours: HOURS });
  return (
    <Section title="Chain and ledger">
      <Loaded query={state} what="the last comparison">
        {({ comparison, supply }) => (
          <>
            <Facts
              items={[
                ["Last complete comparison", formatTime(comparison?.finishedAt)],
                ["At block", comparison?.blockNumber],
                ["Last started", formatTime(comparison?.startedAt)],
                ["Supply", formatTokenUnits(supply.at(-1)?.supplyUnits)],
                ["On our wallets", formatTokenUnits(supply.at(-1)?.walletUnits)],
              ]}
            />
            <DataTable
              name="Open drifts by kind"
              rows={comparison?.openDrifts ?? []}
              rowKey={({ kind }) => kind}
              empty="Chain and ledger agree: no drift is open."
              columns={[
                { title: "Kind", text: ({ kind }) => kind },
                { title: "Open", text: ({ drifts }) => formatCount(drifts, "drift"), align: "right" },
                { title: "Difference", text: ({ units }) => formatTokenUnits(units), align: "right" },
              ]}
            />
            <h3>Supply of the token</h3>
            <Chart
              name="Supply"
              unit="tokens"
              points={supply.map(({ comparedAt, supplyUnits }) => ({
                atMs: Date.parse(comparedAt ?? ""),
                value: Number(supplyUnits) / UNITS_PER_TOKEN,
              }))}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function LedgerSection(): ReactNode {
  const { answer } = useLiveAnswer("wonrail.ledger.v1.LedgerAdminService/GetOverview");
  return (
    <Section title="Verifications of the ledger">
      <DataTable
        name="Verifications"
        rows={answer?.verifications ?? []}
        rowKey={({ scope }) => scope}
        empty="No verification has finished yet."
        columns={[
          { title: "Scope", text: ({ scope }) => scope },
          { title: "Finished at", text: ({ finishedAt }) => formatTime(finishedAt) },
          { title: "Violations", text: ({ violations }) => formatCount(violations, "row"), align: "right" },
          {
            title: "Broken invariants",
            text: ({ brokenInvariants }) => brokenInvariants.join(", ") || "none",
          },
        ]}
      />
    </Section>
  );
}

function DriftsSection(): ReactNode {
  const [all, setAll] = useState(false);
  return (
    <Section
      title="Drifts"
      actions={
        <Checkbox
          size="sm"
          label="Acknowledged too"
          checked={all}
          onChange={({ currentTarget }) => setAll(currentTarget.checked)}
        />
      }
    >
      <PagedTable
        name="Drifts"
        method={DRIFTS}
        filters={[all]}
        load={async (_, signal) => {
          const { drifts } = await call(DRIFTS, { all, limit: 1_000 }, { signal });
          return { rows: drifts };
        }}
        rowKey={({ driftId }) => driftId}
        empty="There is no drift."
        columns={driftColumns}
      />
    </Section>
  );
}
