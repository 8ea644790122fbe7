import { type ReactNode } from "react";
import { useRpc } from "../api/hooks";
import { Facts } from "../blocks/facts";
import { OperationLink, OrganisationLink } from "../blocks/links";
import { Section } from "../blocks/section";
import { Loaded } from "../blocks/states";
import { mergeTimelines } from "../blocks/timeline";
import { TimelineView } from "../blocks/timelineView";
import { formatTokenUnits } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { publicEvents, recordEvents } from "./operationTimeline";

/** A transaction that a partner recorded. */
export function RecordView({ recordId }: { recordId: string }): ReactNode {
  const record = useRpc("wonrail.relayer.v1.RelayerAdminService/GetRecordDetails", { recordId });
  return (
    <>
      <h1>
        Recorded transaction <span className="mono">{recordId}</span>
      </h1>
      <Loaded query={record} what="the record">
        {(details) => <KnownRecord recordId={recordId} details={details} />}
      </Loaded>
    </>
  );
}

function KnownRecord({
  recordId,
  details,
}: {
  recordId: string;
  details: Parameters<typeof recordEvents>[0];
}): ReactNode {
  const { orgId, record, run, runAt, attempts, transferId } = details;
  const events = useRpc("wonrail.events.v1.EventsAdminService/ListObjectEvents", {
    orgId,
    objectId: recordId,
    limit: 100,
  });
  const timeline = mergeTimelines([recordEvents(details), events.data ? publicEvents(events.data) : []]);
  return (
    <>
      <Section title="Record">
        <Facts
          items={[
            ["Organisation", <OrganisationLink org={orgId} />],
            ["Status", enumWords(record?.status, "RECORD_STATUS_")],
            ["Failure", record?.failureReason],
            ["Amount", formatTokenUnits(record?.fields?.amount)],
            ["From", <span className="mono">{record?.fields?.fromAddress}</span>],
            ["To", <span className="mono">{record?.fields?.toAddress}</span>],
            ["Transaction", <span className="mono">{record?.fields?.txHash ?? "—"}</span>],
            ["Scheduled for", formatTime(record?.fields?.scheduledAt)],
            ["Service's work", `${enumWords(run)}, ${attempts} attempts`],
            ["Next look", formatTime(runAt)],
            ["Executed by", <OperationLink id={transferId ?? ""} />],
            ["Idempotency key", details.idempotencyKey],
          ]}
        />
      </Section>
      <Section title="Timeline">
        <TimelineView events={timeline} />
      </Section>
    </>
  );
}
