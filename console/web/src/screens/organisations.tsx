import { type ReactNode } from "react";
import { call } from "../api/call";
import { pageAfter } from "../api/paging";
import { ActionButton } from "../blocks/actionButton";
import { OrganisationLink } from "../blocks/links";
import { PagedTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { SecretOnce } from "./secretOnce";
import { termFields, termsOf } from "./terms";

const LIST = "wonrail.auth.v1.AuthAdminService/ListOrganisations";
const PAGE = 100;

export function Organisations(): ReactNode {
  return (
    <>
      <h1>Organisations</h1>
      <Section title="By code" actions={<CreateOrganisation />}>
        <PagedTable
          name="Organisations"
          method={LIST}
          load={async (afterCode = "", signal) => {
            const { organisations } = await call(LIST, { afterCode, limit: PAGE }, { signal });
            return pageAfter(organisations, PAGE, ({ organisation }) => organisation?.code ?? "");
          }}
          rowKey={({ organisation }) => organisation?.orgId ?? ""}
          empty="There is no organisation yet."
          columns={[
            {
              title: "Code",
              text: ({ organisation }) => organisation?.code ?? "",
              cell: ({ organisation }) => (
                <OrganisationLink org={organisation?.orgId ?? ""}>{organisation?.code}</OrganisationLink>
              ),
            },
            { title: "Name", text: ({ organisation }) => organisation?.name ?? "" },
            {
              title: "Status",
              text: ({ organisation }) => enumWords(organisation?.status, "ORGANISATION_STATUS_"),
            },
            { title: "Plan", text: ({ organisation }) => enumWords(organisation?.plan, "PLAN_") },
            {
              title: "Subscription",
              text: ({ subscriptionActive }) => (subscriptionActive ? "active" : "not active"),
            },
            { title: "Ends at", text: ({ organisation }) => formatTime(organisation?.subscriptionEndsAt) },
            {
              title: "Id",
              text: ({ organisation }) => organisation?.orgId ?? "",
              cell: ({ organisation }) => <span className="mono">{organisation?.orgId}</span>,
            },
          ]}
        />
      </Section>
    </>
  );
}

function CreateOrganisation(): ReactNode {
  return (
    <ActionButton
      method="wonrail.auth.v1.AuthAdminService/CreateOrganisation"
      label="Create organisation"
      consequence="Creates the organisation with a secret key and a first API key. Both are shown once."
      fields={[
        { name: "code", label: "Code", description: "For the header X-Org-Code.", required: true },
        ...termFields({ required: true }),
      ]}
      request={(values) => ({ code: values.code ?? "", terms: termsOf(values) })}
      result={({ apiKey, secretKey }) => (
        <>
          <SecretOnce name="API key" secret={apiKey} />
          <SecretOnce name="Secret key" secret={secretKey} />
        </>
      )}
    />
  );
}
