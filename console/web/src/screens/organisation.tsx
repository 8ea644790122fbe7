import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode } from "react";
import { useRpc } from "../api/hooks";
import { type AnswerOf } from "../api/services";
import { ActionButton } from "../blocks/actionButton";
import { Chart } from "../blocks/chart";
import { Facts } from "../blocks/facts";
import { DataTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Loaded } from "../blocks/states";
import { formatBasisPoints, formatCount, formatWon, groupDigits } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { AuditTable } from "./auditTable";
import { KeysTable } from "./keysTable";
import { SecretOnce } from "./secretOnce";
import { termFields, termsOf } from "./terms";
import { WalletsTable } from "./walletsTable";
import { WebhooksTable } from "./webhooksTable";

const route = getRouteApi("/organisations/$org");
const DAYS = 92;

type Details = AnswerOf<"wonrail.auth.v1.AuthAdminService/GetOrganisationDetails">;

export function Organisation(): ReactNode {
  const { org } = route.useParams();
  const by = org.startsWith("org_") ? { orgId: org } : { code: org };
  const details = useRpc("wonrail.auth.v1.AuthAdminService/GetOrganisationDetails", by);
  return (
    <Loaded query={details} what="the organisation">
      {(found) => <Known details={found} />}
    </Loaded>
  );
}

function Known({ details }: { details: Details }): ReactNode {
  const { code = "", name = "", orgId = "" } = details.organisation ?? {};
  return (
    <>
      <h1>
        {name} <span className="mono">{code}</span>
      </h1>
      <TermsSection details={details} />
      <UsageSection details={details} />
      <BooksSection orgId={orgId} />
      <Section title="Keys">
        <KeysTable code={code} />
      </Section>
      <Section title="Webhooks">
        <WebhooksTable orgId={orgId} />
      </Section>
      <Section title="Wallets">
        <WalletsTable orgId={orgId} />
      </Section>
      <Section title="Audit trail">
        <AuditTable code={code} />
      </Section>
    </>
  );
}

function TermsSection({ details: { organisation, subscriptionActive } }: { details: Details }): ReactNode {
  return (
    <Section title="Terms" actions={<OrganisationActions code={organisation?.code ?? ""} />}>
      <Facts
        items={[
          ["Id", <span className="mono">{organisation?.orgId}</span>],
          ["Status", enumWords(organisation?.status, "ORGANISATION_STATUS_")],
          ["Plan", enumWords(organisation?.plan, "PLAN_")],
          ["Subscription", subscriptionActive ? "active" : "not active"],
          ["Starts at", formatTime(organisation?.subscriptionStartsAt)],
          ["Ends at", formatTime(organisation?.subscriptionEndsAt)],
          ["Incentive rate", formatBasisPoints(organisation?.incentiveRateBps ?? 0)],
          ["Transfers of a wallet in a day", formatWon(organisation?.dailyTransferLimitWon)],
          ["Charges in a day", formatWon(organisation?.dailyChargeLimitWon)],
          ["Largest charge", formatWon(organisation?.maxChargeWon)],
          ["Rate", rateOf(organisation)],
          ["Changed at", formatTime(organisation?.updatedAt)],
        ]}
      />
    </Section>
  );
}

function rateOf(organisation: Details["organisation"]): string {
  const { ratePerSecond = 0, rateBurst = 0 } = organisation ?? {};
  return `${groupDigits(String(ratePerSecond))} requests/s, ${groupDigits(String(rateBurst))} at once`;
}

function OrganisationActions({ code }: { code: string }): ReactNode {
  return (
    <>
      <ActionButton
        method="wonrail.auth.v1.AuthAdminService/SetOrganisation"
        label="Change terms"
        consequence={`Changes the filled terms of ${code}. Empty fields stay as they are.`}
        fields={termFields({ required: false })}
        request={(values) => ({ code, terms: termsOf(values) })}
      />
      <ActionButton
        method="wonrail.auth.v1.AuthAdminService/RotateOrganisationSecret"
        label="Rotate secret key"
        isDangerous
        consequence={`The old secret key of ${code} stops working at once. API keys stay valid.`}
        request={() => ({ code })}
        result={({ secretKey }) => <SecretOnce name="Secret key" secret={secretKey} />}
      />
    </>
  );
}

function UsageSection({ details: { usage, months } }: { details: Details }): ReactNode {
  const operations = months.filter(({ quota }) => quota === "QUOTA_MONEY_OPERATIONS");
  return (
    <Section title="Usage of the plan">
      <DataTable
        name="Usage in this period"
        rows={usage}
        rowKey={({ quota }) => quota}
        empty="Nothing was used in this period."
        columns={[
          { title: "Limit of the plan", text: ({ quota }) => enumWords(quota, "QUOTA_") },
          { title: "Used", text: ({ used }) => groupDigits(used), align: "right" },
          { title: "Limit", text: ({ limit }) => groupDigits(limit), align: "right" },
          { title: "Resets at", text: ({ resetsAt }) => formatTime(resetsAt) },
        ]}
      />
      <h3>Money operations by month (Asia/Seoul)</h3>
      <Chart
        name="Money operations"
        unit="operations"
        timeZone="Asia/Seoul"
        points={operations.map(({ month, used }) => ({
          atMs: Date.parse(`${month}-01T00:00:00+09:00`),
          value: Number(used),
        }))}
      />
    </Section>
  );
}

function BooksSection({ orgId }: { orgId: string }): ReactNode {
  const books = useRpc("wonrail.ledger.v1.LedgerAdminService/GetOrganisationBooks", { orgId, days: DAYS });
  return (
    <Section title="Books">
      <Loaded query={books} what="the books">
        {({ accounts, walletsWon, entries, days }) => (
          <>
            <Facts
              items={[
                ["All wallets", formatWon(walletsWon)],
                ...accounts.map(
                  ({ type, balanceWon }) =>
                    [enumWords(type, "ACCOUNT_TYPE_"), formatWon(balanceWon)] as const,
                ),
                ["Entries ever", formatCount(entries, "entry", "entries")],
              ]}
            />
            <h3>Entries of each day (Asia/Seoul)</h3>
            <Chart
              name="Entries"
              unit="entries"
              timeZone="Asia/Seoul"
              points={days.map(({ day, entries: count }) => ({
                atMs: Date.parse(`${day}T00:00:00+09:00`),
                value: Number(count),
              }))}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}
