import { type ReactNode } from "react";
import { call } from "../api/call";
import { pageAfter } from "../api/paging";
import { PagedTable } from "../blocks/pagedTable";
import { formatTime } from "../format/times";

const LIST = "wonrail.auth.v1.AuthAdminService/ListAuditEntries";
const PAGE = 100;

/** The audit trail of one organisation: its own requests, and operators' changes of it. */
export function AuditTable({ code }: { code: string }): ReactNode {
  return (
    <PagedTable
      name={`Audit trail of ${code}`}
      method={LIST}
      filters={[code]}
      load={async (beforeSequence, signal) => {
        const position = beforeSequence === undefined ? {} : { beforeSequence };
        const { entries } = await call(LIST, { code, limit: PAGE, ...position }, { signal });
        return pageAfter(entries, PAGE, ({ sequence }) => sequence);
      }}
      rowKey={({ sequence }) => sequence}
      empty="Its audit trail is empty."
      columns={[
        { title: "Number", text: ({ sequence }) => sequence, align: "right" },
        { title: "Time", text: ({ occurredAt }) => formatTime(occurredAt) },
        { title: "Actor", text: ({ actor }) => actor },
        { title: "Action", text: ({ action }) => action },
        {
          title: "Subject",
          text: ({ subject }) => subject,
          cell: ({ subject }) => <span className="mono">{subject}</span>,
        },
        {
          title: "Details",
          text: ({ detailsJson }) => detailsJson,
          cell: ({ detailsJson }) => <span className="mono long">{detailsJson}</span>,
        },
        {
          title: "Request",
          text: ({ requestId }) => requestId,
          cell: ({ requestId }) => <span className="mono">{requestId}</span>,
        },
      ]}
    />
  );
}
