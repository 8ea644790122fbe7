import { Group } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode } from "react";
import { useRpc } from "../api/hooks";
import { Facts } from "../blocks/facts";
import { OperationLink, OrganisationLink, WalletLink } from "../blocks/links";
import { DataTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Loaded, Loading } from "../blocks/states";
import { mergeTimelines } from "../blocks/timeline";
import { TimelineView } from "../blocks/timelineView";
import { formatCount, formatWon, groupDigits } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { EndOperation } from "./endOperation";
import {
  depositEvents,
  entryEvents,
  parseRow,
  publicEvents,
  type Row,
  settlementEvents,
  signingEvents,
  textOf,
} from "./operationTimeline";
import { PayoutView } from "./payoutView";
import { RecordView } from "./recordView";
import { UnsettledEntry } from "./unsettledEntry";
import { explainReason } from "./waitReasons";

const route = getRouteApi("/operations/$ref");
const REFETCH_MS = 5_000;

/** What happened to one entry, hold, deposit, record or payout, from the request to its webhooks. */
export function Operation(): ReactNode {
  const { ref } = route.useParams();
  if (ref.startsWith("txn_")) return <RecordView recordId={ref} />;
  if (ref.startsWith("pyo_")) return <PayoutView payoutId={ref} />;
  return <EntryView id={ref} />;
}

function EntryView({ id }: { id: string }): ReactNode {
  const entry = useRpc("wonrail.ledger.v1.LedgerAdminService/GetEntryDetails", { requestId: id });
  return (
    <>
      <h1>
        Operation <span className="mono">{id}</span>
      </h1>
      <Loaded query={entry} what="the operation">
        {(details) => <KnownEntry id={details.request?.requestId ?? id} entry={details} />}
      </Loaded>
    </>
  );
}

type EntryDetails = Parameters<typeof entryEvents>[0];

function KnownEntry({ id, entry }: { id: string; entry: EntryDetails }): ReactNode {
  const { orgId } = entry;
  const options = { refetchMs: REFETCH_MS };
  const settlement = useRpc(
    "wonrail.relayer.v1.RelayerAdminService/GetOperationDetails",
    { ref: id, orgId },
    options,
  );
  const signings = useRpc(
    "wonrail.wallet.v1.WalletAdminService/ListSignings",
    { orgId, ledgerRef: id },
    options,
  );
  const objectId = objectOf(entry, id);
  const events = useRpc(
    "wonrail.events.v1.EventsAdminService/ListObjectEvents",
    { orgId, objectId, limit: 100 },
    options,
  );
  const deposit = useRpc("wonrail.relayer.v1.RelayerAdminService/GetDeposit", { ledgerRef: id });
  const timeline = mergeTimelines([
    entryEvents(entry),
    signings.data ? signingEvents(signings.data) : [],
    deposit.data ? depositEvents(deposit.data) : [],
    settlement.data ? settlementEvents(settlement.data) : [],
    events.data ? publicEvents(events.data) : [],
  ]);
  return (
    <>
      <EntrySection entry={entry} id={id} />
      <Section
        title="Settlement"
        actions={
          settlement.data ? <EndOperation ledgerRef={id} endings={settlement.data.endings} /> : undefined
        }
      >
        {settlement.data ? (
          <SettlementFacts
            operation={parseRow(settlement.data.operationJson)}
            earlier={settlement.data.earlierJson.map(parseRow)}
          />
        ) : settlement.isPending ? (
          <Loading what="the settlement" />
        ) : (
          <UnsettledEntry
            orgId={orgId}
            entry={entry.request?.outcome?.posted}
            error={settlement.error}
            retry={() => void settlement.refetch()}
          />
        )}
      </Section>
      <Section title="Timeline">
        <TimelineView events={timeline} />
      </Section>
    </>
  );
}

/** The events of a cancellation or refund are those of its charge or payment. */
function objectOf({ request }: EntryDetails, id: string): string {
  return request?.outcome?.posted?.original?.requestId ?? id;
}

function EntrySection({ entry, id }: { entry: EntryDetails; id: string }): ReactNode {
  const posted = entry.request?.outcome?.posted;
  const hold = entry.request?.hold;
  return (
    <Section title="Ledger entry">
      <Facts
        items={[
          ["Organisation", <OrganisationLink org={entry.orgId} />],
          ["Id", <span className="mono">{id}</span>],
          ["Kind", enumWords(posted?.kind, "INTENT_KIND_")],
          ["Decided at", formatTime(entry.decidedAt)],
          [
            "Outcome",
            posted === undefined ? `refused with ${entry.request?.outcome?.error?.code}` : "posted",
          ],
          ["Memo", posted?.memo],
          ["Reference", posted?.reference],
          ["Metadata", textOfMetadata(posted?.metadata)],
          ["X-Request-Id", posted?.origin?.requestId],
          ["Cancelled or refunded", formatWon(entry.request?.cancelledWon)],
          ...(hold === undefined
            ? []
            : ([
                [
                  "Hold",
                  `${formatWon(hold.amountWon)} for ${hold.toAddress}, ${enumWords(hold.status, "HOLD_STATUS_")}`,
                ],
              ] as const)),
        ]}
      />
      <DataTable
        name="Postings"
        rows={posted?.postings ?? []}
        rowKey={({ accountId, sequence }) => `${accountId} ${sequence}`}
        empty="It moves no money between accounts."
        columns={[
          {
            title: "Account",
            text: ({ accountId }) => accountId,
            cell: ({ accountId }) => <WalletLink walletId={accountId} />,
          },
          { title: "Type", text: ({ type }) => enumWords(type, "TRANSACTION_TYPE_") },
          { title: "Amount", text: ({ amountWon }) => formatWon(amountWon), align: "right" },
          {
            title: "Balance after",
            text: ({ balanceAfterWon }) => formatWon(balanceAfterWon),
            align: "right",
          },
        ]}
      />
    </Section>
  );
}

function SettlementFacts({ operation, earlier }: { operation: Row; earlier: readonly Row[] }): ReactNode {
  return (
    <>
      <Facts
        items={[
          ["State", textOf(operation, "state")],
          ["Waits for", explainReason(textOf(operation, "wait_reason"))],
          ["Sandbox order", textOf(operation, "sandbox_order")],
          ["Failure", textOf(operation, "failure_reason")],
          ["Attempts", formatCount(textOf(operation, "attempts"), "attempt")],
          ["Transaction", <span className="mono">{textOf(operation, "tx_hash") ?? "—"}</span>],
          ["Block", groupDigits(textOf(operation, "block_number") ?? "—")],
          ["Gas used", gasOf(operation)],
          ["Id on the chain", <span className="mono">{textOf(operation, "operation_id") ?? "—"}</span>],
        ]}
      />
      {earlier.length === 0 ? undefined : (
        <Group gap="sm" mt="sm">
          Waits behind:
          {earlier.map((row) => (
            <span key={textOf(row, "ledger_ref")}>
              <OperationLink id={textOf(row, "ledger_ref") ?? ""} /> ({textOf(row, "state")}
              {textOf(row, "wait_reason") === undefined ? "" : `, ${textOf(row, "wait_reason")}`})
            </span>
          ))}
        </Group>
      )}
    </>
  );
}

function gasOf(operation: Row): string {
  const gas = textOf(operation, "gas_used");
  return gas === undefined ? "—" : `${groupDigits(gas)} gas`;
}

function textOfMetadata(metadata: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`);
  return pairs.length === 0 ? "—" : pairs.join("; ");
}
