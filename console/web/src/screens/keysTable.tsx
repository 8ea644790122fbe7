import { type ReactNode } from "react";
import { call } from "../api/call";
import { type AnswerOf } from "../api/services";
import { ActionButton, linesOf } from "../blocks/actionButton";
import { PagedTable } from "../blocks/pagedTable";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { SecretOnce } from "./secretOnce";

const LIST = "wonrail.auth.v1.AuthAdminService/ListOrganisationKeys";
type Key = AnswerOf<typeof LIST>["keys"][number];

/** API keys of an organisation, newest first. */
export function KeysTable({ code }: { code: string }): ReactNode {
  return (
    <>
      <IssueKey code={code} />
      <PagedTable
        name="Keys"
        method={LIST}
        filters={[code]}
        load={async (_, signal) => {
          const { keys } = await call(LIST, { code, limit: 1_000 }, { signal });
          return { rows: keys };
        }}
        rowKey={({ keyId }) => keyId}
        empty="It has no key."
        columns={[
          { title: "Action", cell: (key) => <RevokeKey code={code} apiKey={key} /> },
          {
            title: "Prefix",
            text: ({ prefix }) => prefix,
            cell: ({ prefix }) => <span className="mono">{prefix}</span>,
          },
          { title: "Name", text: ({ name }) => name },
          { title: "Status", text: ({ status }) => enumWords(status, "KEY_STATUS_") },
          { title: "Addresses", text: ({ allowedAddresses }) => allowedAddresses.join(" ") || "any" },
          { title: "Issued at", text: ({ issuedAt }) => formatTime(issuedAt) },
          { title: "Expires at", text: ({ expiresAt }) => formatTime(expiresAt) },
          { title: "Last used at", text: ({ lastUsedAt }) => formatTime(lastUsedAt) },
          {
            title: "Scopes",
            text: ({ scopes }) => scopes.join(" "),
            cell: ({ scopes }) => <div className="long">{scopes.join(" ")}</div>,
          },
        ]}
      />
    </>
  );
}

function IssueKey({ code }: { code: string }): ReactNode {
  return (
    <ActionButton
      method="wonrail.auth.v1.AuthAdminService/IssueOrganisationKey"
      label="Issue key"
      consequence={`Issues an API key for ${code}. The key is shown once.`}
      fields={[
        { name: "name", label: "Name" },
        { name: "scopes", label: "Scopes, one a line", kind: "lines", description: "Empty: all." },
        {
          name: "addresses",
          label: "Allowed addresses, one a line",
          kind: "lines",
          description: "Empty: any.",
        },
        {
          name: "expiresAt",
          label: "Expires at",
          description: "2027-01-01T00:00:00+09:00; empty: the usual lifetime.",
        },
      ]}
      request={({ name = "", scopes, addresses, expiresAt = "" }) => ({
        code,
        scopes: linesOf(scopes),
        allowedAddresses: linesOf(addresses),
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(expiresAt.trim() === "" ? {} : { expiresAt: expiresAt.trim() }),
      })}
      result={({ apiKey }) => <SecretOnce name="API key" secret={apiKey} />}
    />
  );
}

function RevokeKey({ code, apiKey: { prefix, revokedAt } }: { code: string; apiKey: Key }): ReactNode {
  if (revokedAt !== undefined) return `revoked at ${formatTime(revokedAt)}`;
  return (
    <ActionButton
      method="wonrail.auth.v1.AuthAdminService/RevokeOrganisationKey"
      label="Revoke"
      isDangerous
      consequence={`Revokes ${prefix} of ${code} for good, on every gateway within a second.`}
      fields={[
        { name: "withSuccessors", label: "The keys that were refreshed from it too", kind: "checkbox" },
        { name: "leaked", label: "The key leaked: its successors are revoked too", kind: "checkbox" },
      ]}
      request={({ withSuccessors, leaked }) => ({
        code,
        prefix,
        withSuccessors: withSuccessors === "yes",
        leaked: leaked === "yes",
      })}
    />
  );
}
