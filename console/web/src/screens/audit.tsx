import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../api/call";
import { type Page, pageAfter } from "../api/paging";
import { type AnswerOf, type ServiceName, SERVICES } from "../api/services";
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

type Action = AnswerOf<typeof ACTIONS>["actions"][number] & { service: ServiceName };

/** The trail of one service, or the newest actions of all of them. */
type Trail = ServiceName | "all";

const TRAILS: readonly { value: Trail; label: string }[] = [
  { value: "all", label: `all services, the newest ${PAGE} of each` },
  ...SERVICES.map((value) => ({ value, label: value })),
];

export function Audit(): ReactNode {
  const [trail, setTrail] = useState<Trail>("all");
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
            value={trail}
            data={TRAILS.map((option) => ({ ...option }))}
            onChange={({ currentTarget }) => setTrail(currentTarget.value as Trail)}
          />
        </div>
        <ActionsTable trail={trail} />
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
      <Button variant="default" size="compact-sm" loading={run.isPending} onClick={() => run.mutate()}>
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

async function loadActions(
  service: ServiceName,
  position: { beforeSequence?: string },
  signal: AbortSignal | undefined,
): Promise<Page<Action>> {
  const { actions } = await call(ACTIONS, { limit: PAGE, ...position }, { service, signal });
  const rows = actions.map((action) => ({ ...action, service }));
  return pageAfter(rows, PAGE, ({ sequence }) => sequence);
}

async function loadNewest(signal: AbortSignal | undefined): Promise<Page<Action>> {
  const pages = await Promise.all(SERVICES.map((service) => loadActions(service, {}, signal)));
  const timeOf = ({ occurredAt }: Action) => Date.parse(occurredAt ?? "");
  return { rows: pages.flatMap(({ rows }) => rows).sort((a, b) => timeOf(b) - timeOf(a)) };
}

/** A proposal is recorded with the method that it proposes. */
function actionWords({ method, detailsJson }: Pick<Action, "method" | "detailsJson">): string {
  const { proposed } = JSON.parse(detailsJson) as { proposed?: boolean };
  return proposed ? `${methodWords(method)} (proposed)` : methodWords(method);
}

function ActionsTable({ trail }: { trail: Trail }): ReactNode {
  return (
    <PagedTable
      name={trail === "all" ? "Operators' actions" : `Operators' actions of ${trail}`}
      method={ACTIONS}
      filters={[trail]}
      load={(beforeSequence, signal) =>
        trail === "all"
          ? loadNewest(signal)
          : loadActions(trail, beforeSequence === undefined ? {} : { beforeSequence }, signal)
      }
      rowKey={({ service, sequence }) => `${service} ${sequence}`}
      empty="No operator has changed anything there."
      columns={[
        { title: "Time", text: ({ occurredAt }) => formatTime(occurredAt) },
        { title: "Service", text: ({ service }) => service },
        { title: "Number", text: ({ sequence }) => sequence, align: "right" },
        { title: "Operator", text: ({ operator }) => operator },
        {
          title: "Roles",
          text: ({ roles }) => roles.map((role) => enumWords(role, "OPERATOR_ROLE_")).join(", "),
        },
        { title: "Action", text: actionWords },
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
          cell: ({ detailsJson }) => <span className="mono long">{detailsJson}</span>,
        },
      ]}
    />
  );
}
