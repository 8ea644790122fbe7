import { useQueries } from "@tanstack/react-query";
import { type ReactNode } from "react";
import { call } from "../api/call";
import { isAllowed, useRpc } from "../api/hooks";
import { type AnswerOf, type ServiceName, SERVICES } from "../api/services";
import { ActionButton } from "../blocks/actionButton";
import { Facts } from "../blocks/facts";
import { type Column, DataTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Allowed, Failure, Loaded, Loading } from "../blocks/states";
import { formatCount, groupDigits } from "../format/amounts";
import { formatAge, formatTime } from "../format/times";
import { type Reading, readingsOf } from "./lag";

const SYSTEM = "wonrail.common.v1.AdminService/GetSystem";
const SEALS = "wonrail.wallet.v1.WalletAdminService/CheckSeals";
const MANAGERS = "wonrail.relayer.v1.RelayerAdminService/ListPaymentManagers";
const REFETCH_MS = 5_000;

interface Known {
  service: ServiceName;
  state: AnswerOf<typeof SYSTEM>;
}

export function System(): ReactNode {
  const answers = useSystems();
  const known = answers.flatMap(({ service, data }) =>
    data === undefined ? [] : [{ service, state: data }],
  );
  return (
    <>
      <h1>System</h1>
      {answers.map(({ service, error }) =>
        error ? (
          <div key={service}>
            {service}: <Failure error={error} />
          </div>
        ) : undefined,
      )}
      <Section title="Services">
        {answers.some(({ isLoading }) => isLoading) ? <Loading what="the services" /> : undefined}
        <DataTable
          name="Services"
          rows={known}
          rowKey={({ service }) => service}
          empty="No service has answered."
          columns={serviceColumns}
        />
      </Section>
      <Section title="Lag of the consumers">
        <DataTable
          name="Consumers"
          rows={readingsOf(known)}
          rowKey={({ service, consumerGroup, topic }) => `${service} ${consumerGroup} ${topic}`}
          empty="No service has answered."
          columns={readingColumns}
        />
      </Section>
      <KeysSection />
      <ChainSection />
      <RebuildSection />
    </>
  );
}

function useSystems() {
  return useQueries({
    queries: SERVICES.map((service) => ({
      queryKey: [SYSTEM, service],
      queryFn: ({ signal }: { signal: AbortSignal }) => call(SYSTEM, {}, { service, signal }),
      enabled: isAllowed(SYSTEM),
      refetchInterval: REFETCH_MS,
    })),
    combine: (results) =>
      results.map(({ data, error, isLoading }, index) => ({
        service: SERVICES[index]!,
        data,
        error,
        isLoading,
      })),
  });
}

const serviceColumns: readonly Column<Known>[] = [
  { title: "Service", text: ({ service }) => service },
  { title: "Version", text: ({ state }) => state.version },
  { title: "Commit", text: ({ state }) => state.commit },
  { title: "Node", text: ({ state }) => state.nodeVersion },
  { title: "Up since", text: ({ state }) => formatTime(state.startedAt) },
  {
    title: "Schema",
    text: ({ state }) => state.schema.map(({ set, number, name }) => `${set} ${number} ${name}`).join(", "),
  },
  {
    title: "Events",
    text: ({ state }) => (state.feed ? formatCount(state.feed.events, "event") : "none"),
    align: "right",
  },
  {
    title: "Acknowledged by Kafka",
    text: ({ state }) => (state.feed ? formatCount(state.feed.published, "event") : "—"),
    align: "right",
  },
  {
    title: "Not numbered",
    text: ({ state }) => (state.feed ? formatCount(state.feed.unnumbered, "event") : "—"),
    align: "right",
  },
];

const readingColumns: readonly Column<Reading>[] = [
  { title: "Service", text: ({ service }) => service },
  { title: "Group", text: ({ consumerGroup }) => consumerGroup },
  { title: "Topic", text: ({ topic }) => topic },
  { title: "Lag", text: ({ lag }) => formatCount(lag, "event"), align: "right" },
  { title: "Moved", text: ({ movedAt }) => formatTime(movedAt), cell: ({ movedAt }) => <Ago at={movedAt} /> },
  { title: "Dead letters", text: ({ deadLetters }) => groupDigits(String(deadLetters)), align: "right" },
];

function Ago({ at }: { at: string | undefined }): ReactNode {
  return at === undefined ? "—" : <span title={formatTime(at)}>{formatAge(at, Date.now())} ago</span>;
}

function KeysSection(): ReactNode {
  const seals = useRpc(SEALS, {});
  return (
    <Section
      title="Seals of the organisations' seeds"
      actions={
        <ActionButton
          method="wonrail.wallet.v1.WalletAdminService/ResealSeeds"
          label="Reseal all seeds"
          consequence="Seals every seed under the current key-encryption key. Signing continues meanwhile."
          request={() => ({})}
          result={({ resealed, unopenedOrgIds }) =>
            `${formatCount(resealed, "seed")} resealed; ${formatCount(unopenedOrgIds.length, "organisation")} with a seed that does not open.`
          }
        />
      }
    >
      <Allowed method={SEALS}>
        <Loaded query={seals} what="the seals">
          {({ currentKekId, checks }) => (
            <DataTable
              name="Seals"
              rows={checks}
              rowKey={({ kekId }) => kekId}
              empty="No seed is sealed yet."
              columns={[
                {
                  title: "Key-encryption key",
                  text: ({ kekId }) => (kekId === currentKekId ? `${kekId} (current)` : kekId),
                },
                { title: "Seeds", text: ({ seeds }) => groupDigits(seeds), align: "right" },
                { title: "Opens", text: ({ problem }) => (problem === undefined ? "yes" : `no: ${problem}`) },
              ]}
            />
          )}
        </Loaded>
      </Allowed>
    </Section>
  );
}

function ChainSection(): ReactNode {
  const managers = useRpc(MANAGERS, {});
  return (
    <Section
      title="Payment managers"
      actions={
        <>
          <ActionButton
            method="wonrail.relayer.v1.RelayerAdminService/AdoptPaymentManager"
            label="Adopt a payment manager"
            isDangerous
            consequence="Settles later operations through another payment manager."
            fields={[{ name: "address", label: "Address", required: true }]}
            request={({ address = "" }) => ({ address: address.trim() })}
          />
          <ActionButton
            method="wonrail.relayer.v1.RelayerAdminService/RescanBlocks"
            label="Rescan blocks"
            consequence="Reads final blocks again from a block on. Known facts are not taken twice."
            fields={[{ name: "fromBlock", label: "From block", required: true }]}
            request={({ fromBlock = "" }) => ({ fromBlock: fromBlock.trim() })}
          />
        </>
      }
    >
      <Loaded query={managers} what="the payment managers">
        {({ addresses }) => (
          <Facts
            items={addresses.map((address, index) => [
              index === addresses.length - 1 ? "In use" : `Earlier (${index + 1})`,
              <span className="mono">{address}</span>,
            ])}
          />
        )}
      </Loaded>
    </Section>
  );
}

function RebuildSection(): ReactNode {
  const overview = useRpc(
    "wonrail.payment.v1.PaymentAdminService/GetOverview",
    {},
    { refetchMs: REFETCH_MS },
  );
  const rebuild = overview.data?.rebuild;
  return (
    <Section
      title="Payment's records"
      actions={
        <ActionButton
          method="wonrail.payment.v1.PaymentAdminService/BeginRebuild"
          label="Rebuild the records"
          isDangerous
          consequence="Rewrites all of payment's records from the ledger's journal. Lists may lag meanwhile."
          request={() => ({})}
        />
      }
    >
      <Facts
        items={[
          ["Last rebuild", rebuild === undefined ? "none" : rebuild.rebuildId],
          ["By", rebuild?.operator],
          ["Asked at", formatTime(rebuild?.askedAt)],
          ["Organisations done", formatCount(rebuild?.organisations, "organisation")],
          [
            "Finished at",
            rebuild === undefined
              ? "—"
              : rebuild.finishedAt === undefined
                ? "runs"
                : formatTime(rebuild.finishedAt),
          ],
        ]}
      />
    </Section>
  );
}
