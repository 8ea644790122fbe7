import { Button, Group, Modal, NativeSelect } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { call } from "../api/call";
import { isAllowed, useRpc } from "../api/hooks";
import { pageAfter } from "../api/paging";
import { type AnswerOf, type RequestOf, type ServiceName, SERVICES } from "../api/services";
import { ActionButton } from "../blocks/actionButton";
import { Facts } from "../blocks/facts";
import { PagedTable } from "../blocks/pagedTable";
import { Section } from "../blocks/section";
import { Loaded } from "../blocks/states";
import { formatCount } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { WebhooksTable } from "./webhooksTable";

const LIST = "wonrail.common.v1.AdminService/ListDeadLetters";
const GET = "wonrail.common.v1.AdminService/GetDeadLetter";
const PAGE = 100;
const STATES = [
  ["DEAD_LETTER_STATE_UNSPECIFIED", "Open"],
  ["DEAD_LETTER_STATE_DEAD", "Dead"],
  ["DEAD_LETTER_STATE_REPLAY_REQUESTED", "Replay requested"],
  ["DEAD_LETTER_STATE_REPLAYED", "Replayed"],
  ["DEAD_LETTER_STATE_DROPPED", "Dropped"],
] as const;

type State = NonNullable<RequestOf<typeof LIST>["state"]>;
type DeadLetter = AnswerOf<typeof LIST>["deadLetters"][number];

export function DeadLetters(): ReactNode {
  const [state, setState] = useState<State>("DEAD_LETTER_STATE_UNSPECIFIED");
  return (
    <>
      <h1>Dead letters</h1>
      <div className="filters">
        <NativeSelect
          label="State"
          value={state}
          data={STATES.map(([value, label]) => ({ value, label }))}
          onChange={({ currentTarget }) => setState(currentTarget.value as State)}
        />
      </div>
      {SERVICES.map((service) => (
        <Section
          key={service}
          title={`Events that ${service} could not handle`}
          actions={<ReplayGroup service={service} />}
        >
          <LettersTable service={service} state={state} />
        </Section>
      ))}
      <Section title="Webhooks in trouble">
        <WebhooksTable />
      </Section>
    </>
  );
}

function LettersTable({ service, state }: { service: ServiceName; state: State }): ReactNode {
  return (
    <PagedTable
      name={`Dead letters of ${service}`}
      method={LIST}
      filters={[state]}
      load={async (beforeId, signal) => {
        const position = beforeId === undefined ? {} : { beforeId };
        const { deadLetters } = await call(LIST, { state, limit: PAGE, ...position }, { service, signal });
        return pageAfter(deadLetters, PAGE, ({ id }) => id);
      }}
      rowKey={({ id }) => id}
      empty="There is no dead letter."
      columns={[
        { title: "Action", cell: (letter) => <LetterActions service={service} letter={letter} /> },
        { title: "Id", text: ({ id }) => id, align: "right" },
        { title: "Failed at", text: ({ failedAt }) => formatTime(failedAt) },
        { title: "Event", text: ({ eventType }) => eventType },
        {
          title: "Error",
          text: ({ error }) => error,
          cell: ({ error }) => <span className="wrap">{error}</span>,
        },
        { title: "Failures", text: ({ failures }) => String(failures), align: "right" },
        { title: "Group", text: ({ consumerGroup }) => consumerGroup },
        { title: "Topic", text: ({ topic, partition }) => `${topic} ${partition}` },
        {
          title: "Key",
          text: ({ messageKey }) => messageKey,
          cell: ({ messageKey }) => <span className="mono">{messageKey}</span>,
        },
        { title: "State", text: (letter) => enumWords(letter.state, "DEAD_LETTER_STATE_") },
      ]}
    />
  );
}

function LetterActions({
  service,
  letter: { id, state },
}: {
  service: ServiceName;
  letter: DeadLetter;
}): ReactNode {
  return (
    <Group gap="xs" wrap="nowrap">
      <LetterDetails service={service} id={id} />
      {state === "DEAD_LETTER_STATE_DEAD" ? (
        <>
          <ActionButton
            method="wonrail.common.v1.AdminService/ReplayDeadLetters"
            service={service}
            label="Retry"
            consequence={`The consumer handles the event ${id} again within seconds. If it fails, it is dead again.`}
            request={() => ({ id })}
          />
          <ActionButton
            method="wonrail.common.v1.AdminService/DropDeadLetter"
            service={service}
            label="Drop"
            isDangerous
            consequence={`Gives the event ${id} up for good. Its effect on ${service} stays missing.`}
            request={() => ({ id })}
          />
        </>
      ) : undefined}
    </Group>
  );
}

function ReplayGroup({ service }: { service: ServiceName }): ReactNode {
  return (
    <ActionButton
      method="wonrail.common.v1.AdminService/ReplayDeadLetters"
      service={service}
      label="Retry a group"
      consequence={`Handles all dead letters of a consumer group of ${service} again.`}
      fields={[{ name: "consumerGroup", label: "Consumer group", required: true }]}
      request={({ consumerGroup = "" }) => ({ consumerGroup })}
      result={({ requested }) => `${formatCount(requested, "retry", "retries")} requested.`}
    />
  );
}

function LetterDetails({ service, id }: { service: ServiceName; id: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (!isAllowed(GET)) return undefined;
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        Show
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={`Dead letter ${id} of ${service}`}
        size="lg"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {isOpen ? <Letter service={service} id={id} /> : undefined}
      </Modal>
    </>
  );
}

function Letter({ service, id }: { service: ServiceName; id: string }): ReactNode {
  const letter = useRpc(GET, { id }, { service });
  return (
    <Loaded query={letter} what="the dead letter">
      {({ deadLetter, headers, payload }) => (
        <>
          <Facts
            items={[
              ["Event", deadLetter?.eventType],
              ["Error", deadLetter?.error],
              ["Number in the feed", deadLetter?.feedNumber],
              ...Object.entries(headers),
            ]}
          />
          <h3>Payload (base64 of the protobuf message)</h3>
          <pre className="json">{payload}</pre>
        </>
      )}
    </Loaded>
  );
}
