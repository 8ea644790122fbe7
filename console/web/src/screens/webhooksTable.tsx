import { Button, Group, Modal } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { call } from "../api/call";
import { isAllowed } from "../api/hooks";
import { type AnswerOf } from "../api/services";
import { ActionButton } from "../blocks/actionButton";
import { OrganisationLink } from "../blocks/links";
import { PagedTable } from "../blocks/pagedTable";
import { formatCount, groupDigits } from "../format/amounts";
import { formatTime } from "../format/times";
import { enumWords } from "../format/words";
import { rangeFields, rangeOf } from "./replayRange";

const LIST = "wonrail.events.v1.EventsAdminService/ListWebhookStates";
const DELIVERIES = "wonrail.events.v1.EventsAdminService/ListWebhookDeliveries";
type Webhook = AnswerOf<typeof LIST>["webhooks"][number];

/** Webhooks of one organisation, or without `orgId` those of all that are in trouble. */
export function WebhooksTable({ orgId }: { orgId?: string }): ReactNode {
  const filter = orgId === undefined ? { troubled: true } : { orgId };
  return (
    <PagedTable
      name="Webhooks"
      method={LIST}
      filters={[orgId]}
      load={async (_, signal) => {
        const { webhooks } = await call(LIST, { ...filter, limit: 1_000 }, { signal });
        return { rows: webhooks };
      }}
      rowKey={({ webhookId }) => webhookId}
      empty={orgId === undefined ? "No webhook fails or was disabled." : "It has no webhook."}
      columns={[
        { title: "Action", cell: (webhook) => <WebhookActions webhook={webhook} /> },
        { title: "Address", text: ({ url }) => url, cell: ({ url }) => <span className="mono">{url}</span> },
        {
          title: "Status",
          text: ({ status, disabledReason }) =>
            [enumWords(status, "WEBHOOK_STATUS_"), disabledReason ?? ""].join(" ").trim(),
        },
        { title: "Failing since", text: ({ failingSince }) => formatTime(failingSince) },
        { title: "Events behind", text: ({ eventsBehind }) => groupDigits(eventsBehind), align: "right" },
        {
          title: "Pending deliveries",
          text: ({ pendingDeliveries }) => groupDigits(String(pendingDeliveries)),
          align: "right",
        },
        { title: "Pending since", text: ({ pendingSince }) => formatTime(pendingSince) },
        {
          title: "Organisation",
          text: (webhook) => webhook.orgId,
          cell: (webhook) => <OrganisationLink org={webhook.orgId} />,
        },
        {
          title: "Webhook",
          text: ({ webhookId }) => webhookId,
          cell: ({ webhookId }) => <span className="mono">{webhookId}</span>,
        },
      ]}
    />
  );
}

function WebhookActions({ webhook: { webhookId, url, status } }: { webhook: Webhook }): ReactNode {
  return (
    <Group gap="xs" wrap="nowrap">
      <Deliveries webhookId={webhookId} />
      {status === "WEBHOOK_STATUS_ENABLED" ? (
        <ActionButton
          method="wonrail.events.v1.EventsAdminService/DisableWebhook"
          label="Disable"
          isDangerous
          consequence={`Events for ${url} wait until it is enabled. The organisation gets webhook.disabled.`}
          request={() => ({ webhookId })}
        />
      ) : (
        <ActionButton
          method="wonrail.events.v1.EventsAdminService/EnableWebhook"
          label="Enable"
          consequence={`Sends events to ${url} again, beginning with those that waited.`}
          request={() => ({ webhookId })}
        />
      )}
      <ActionButton
        method="wonrail.events.v1.EventsAdminService/ReplayDeliveries"
        label="Replay failed"
        consequence={`Delivers the events to ${url} again whose deliveries have no attempt left.`}
        request={() => ({ webhookId, failed: true })}
        result={({ deliveries }) => `${formatCount(deliveries, "delivery", "deliveries")} will be sent.`}
      />
      <ActionButton
        method="wonrail.events.v1.EventsAdminService/ReplayDeliveries"
        label="Replay range"
        consequence={`Delivers the events of a range to ${url} again, also those that were delivered. At most 10,000 at once.`}
        fields={rangeFields}
        request={(values) => ({ webhookId, range: rangeOf(values) })}
        result={({ deliveries }) => `${formatCount(deliveries, "delivery", "deliveries")} will be sent.`}
      />
    </Group>
  );
}

function Deliveries({ webhookId }: { webhookId: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (!isAllowed(DELIVERIES)) return undefined;
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        Deliveries
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={`Deliveries of ${webhookId}`}
        size="xl"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {isOpen ? <DeliveriesTable webhookId={webhookId} /> : undefined}
      </Modal>
    </>
  );
}

function DeliveriesTable({ webhookId }: { webhookId: string }): ReactNode {
  return (
    <PagedTable
      name="Deliveries"
      method={DELIVERIES}
      filters={[webhookId]}
      load={async (_, signal) => {
        const { deliveries } = await call(DELIVERIES, { webhookId, limit: 200 }, { signal });
        return { rows: deliveries };
      }}
      rowKey={({ deliveryId }) => deliveryId}
      empty="It has no delivery."
      columns={[
        { title: "Sequence", text: ({ sequence }) => sequence ?? "test", align: "right" },
        { title: "Event", text: ({ eventType }) => eventType },
        { title: "Status", text: ({ status }) => enumWords(status, "DELIVERY_STATUS_") },
        { title: "Created at", text: ({ createdAt }) => formatTime(createdAt) },
        { title: "Next attempt at", text: ({ nextAttemptAt }) => formatTime(nextAttemptAt) },
        { title: "Attempts", text: ({ attempts }) => String(attempts.length), align: "right" },
        {
          title: "Last answer",
          text: ({ attempts }) => answerOf(attempts.at(-1)),
          cell: ({ attempts }) => <pre className="json">{answerOf(attempts.at(-1))}</pre>,
        },
      ]}
    />
  );
}

type Attempt = AnswerOf<typeof DELIVERIES>["deliveries"][number]["attempts"][number];

/** The partner's text is shown as text. */
function answerOf(attempt: Attempt | undefined): string {
  if (attempt === undefined) return "—";
  return [attempt.statusCode ?? "no answer", attempt.error ?? "", attempt.responseHead ?? ""]
    .join("\n")
    .trim();
}
