import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../api/call";
import { pageAfter } from "../api/paging";
import { type ServiceName, SERVICES } from "../api/services";
import { DataTable, PagedTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Allowed, Failure, Loading } from "../blocks/states";
import { formatCount } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords, methodWords } from "../format/words";
import { AuditTable } from "./auditTable";

const ACTIONS = "wonrail.common.v1.AdminService/ListOperatorActions";
const VERIFY = "wonrail.common.v1.AdminService/VerifyOperatorActions";
const VERIFY_TRAIL = "wonrail.auth.v1.AuthAdminService/VerifyAuditTrail";
const PAGE = 100;

export function Audit(): ReactNode {
  const [service, setService] = useState<ServiceName>("chain-relayer");
  const [code, setCode] = useState("");
  return (
    <>
      <h1>Audit trail</h1>
      <Section title="Verification">
        <Allowed method={VERIFY}>
          <Verification />
        </Allowed>
      </Section>
      <Section title="Operators' actions">
        <div className="filters">
          <NativeSelect
            label="Service"
            value={service}
            data={[...SERVICES]}
            onChange={({ currentTarget }) => setService(currentTarget.value as ServiceName)}
          />
        </div>
        <ActionsTable service={service} />
      </Section>
      <Section title="Trail of an organisation">
        <div className="filters">
          <TextInput
            label="Code of the organisation"
            value={code}
            onChange={({ currentTarget }) => setCode(currentTarget.value.trim())}
          />
        </div>
        {code === "" ? undefined : <AuditTable code={code} />}
      </Section>
    </>
  );
}

interface Verified {
  trail: string;
  entries: string;
  problem: string;
}

/** Every service follows its own hash chain; auth follows those of the organisations too. */
async function verifyAll(): Promise<Verified[]> {
  const services = SERVICES.map(async (service): Promise<Verified> => {
    const { actions, brokenSequence, problem } = await call(VERIFY, {}, { service });
    const broken = brokenSequence === undefined ? "" : `entry ${brokenSequence}: ${problem}`;
    return { trail: `Operators' actions of ${service}`, entries: actions, problem: broken };
  });
  const organisations = call(VERIFY_TRAIL, {}).then(({ organisations: count, entries, problems }) => ({
    trail: `Trails of ${formatCount(count, "organisation")}`,
    entries,
    problem: problems
      .map(({ orgId, sequence, problem }) => `${orgId} entry ${sequence}: ${problem}`)
      .join("; "),
  }));
  return Promise.all([...services, organisations]);
}

function Verification(): ReactNode {
  const run = useMutation({ mutationFn: verifyAll });
  const isSound = run.data?.every(({ problem }) => problem === "");
  return (
    <>
      <Button variant="default" size="compact-md" loading={run.isPending} onClick={() => run.mutate()}>
        Verify all hash chains
      </Button>
      {run.isPending ? <Loading what="the verification" /> : undefined}
      {run.error ? <Failure error={run.error} /> : undefined}
      {run.data === undefined ? undefined : (
        <div role="status">
          <p className="tone" data-tone={isSound ? "good" : "bad"}>
            {isSound ? "All hash chains are sound." : "A hash chain is broken."}
          </p>
          <DataTable
            name="Verification"
            rows={run.data}
            rowKey={({ trail }) => trail}
            empty=""
            columns={[
              { title: "Trail", text: ({ trail }) => trail },
              {
                title: "Entries",
                text: ({ entries }) => formatCount(entries, "entry", "entries"),
                align: "right",
              },
              { title: "Result", text: ({ problem }) => (problem === "" ? "sound" : `broken: ${problem}`) },
            ]}
          />
        </div>
      )}
    </>
  );
}

function ActionsTable({ service }: { service: ServiceName }): ReactNode {
  return (
    <PagedTable
      name={`Operators' actions of ${service}`}
      method={ACTIONS}
      filters={[service]}
      load={async (beforeSequence, signal) => {
        const position = beforeSequence === undefined ? {} : { beforeSequence };
        const { actions } = await call(ACTIONS, { limit: PAGE, ...position }, { service, signal });
        return pageAfter(actions, PAGE, ({ sequence }) => sequence);
      }}
      rowKey={({ sequence }) => sequence}
      empty="No operator has changed anything there."
      columns={[
        { title: "Number", text: ({ sequence }) => sequence, align: "right" },
        { title: "Time", text: ({ occurredAt }) => formatTime(occurredAt) },
        { title: "Operator", text: ({ operator }) => operator },
        {
          title: "Roles",
          text: ({ roles }) => roles.map((role) => enumWords(role, "OPERATOR_ROLE_")).join(", "),
        },
        { title: "Action", text: ({ method }) => methodWords(method) },
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
        { title: "Client", text: ({ client }) => client ?? "" },
        {
          title: "Details",
          text: ({ detailsJson }) => detailsJson,
          cell: ({ detailsJson }) => <span className="mono">{detailsJson}</span>,
        },
      ]}
    />
  );
}
