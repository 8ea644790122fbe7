import {
  bigNumber,
  type ClientConfig,
  jsonOption,
  limitOption,
  openWorld,
  operatorMessage,
  organisationId,
  print,
  readClientConfig,
  reasonOption,
  Refusal,
  runCommands,
  table,
  withService,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { enumName, type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Operator } from "@wonrail/proto/common/v1/common";
import { EventsAdminServiceService, type ReplayDeliveriesRequest } from "@wonrail/proto/events/v1/admin";
import { type Delivery, DeliveryStatus, WebhookStatus } from "@wonrail/proto/events/v1/events";
import { Command, Option } from "commander";

// The operators' commands. They call the running service (adminRpc.ts).

type World = CommandWorld<ClientConfig>;

const EXAMPLES = `
Examples:
  $ npx wonrail webhook list --troubled
  $ npx wonrail webhook deliveries whk_0192f0c1a2b37c4d8e5f60718293a4b5 --status FAILED
  $ npx wonrail webhook replay whk_0192f0c1a2b37c4d8e5f60718293a4b5 --failed --reason "endpoint is back"
  $ npx wonrail consumer list
  $ npx wonrail webhook disable whk_0192f0c1a2b37c4d8e5f60718293a4b5 --reason "asked by the partner"

Calls EVENTS_ADDRESS, or else the stack that "npm run up" started.`;

export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(
    args,
    openWorld(() => readClientConfig("events")),
  );
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(() => readClientConfig("events"))).commands;
}

export function runAdmin(args: string[], world: World): Promise<ExitCode> {
  return runCommands(createProgram(world), args, world);
}

function createProgram(world: World): Command {
  const webhook = new Command("webhook").description("endpoints of partners that get events");
  for (const command of [list, deliveries, disable, enable, replay]) webhook.addCommand(command(world));
  return new Command("wonrail")
    .description(
      "Webhooks: their state, their deliveries, and deliveries again. How far the feeds were read.",
    )
    .addHelpText("after", EXAMPLES)
    .addCommand(webhook)
    .addCommand(
      new Command("consumer").description("readers of other services' feeds").addCommand(consumers(world)),
    );
}

function consumers(world: World): Command {
  return new Command("list")
    .description(
      "how far the events service has read each feed, and its dead letters; a blocked one stands still",
    )
    .addOption(jsonOption())
    .action(async ({ json }: { json?: true }) => {
      const { consumers } = await withEvents(world, (events, operator) => events.listConsumers({ operator }));
      const rows = consumers.map(({ consumerGroup, events, ...rest }) => ({
        group: consumerGroup,
        ...rest,
        events: Number(events),
      }));
      print(world, json, rows, table(rows));
    });
}

interface ListOptions {
  org?: string;
  webhook?: string;
  troubled?: true;
  limit: number;
  json?: true;
}

function list(world: World): Command {
  return new Command("list")
    .description("webhooks with their state and backlog, those that fail for the longest time first")
    .option("--org <id>", "of one organisation", organisationId)
    .option("--webhook <id>", "only this one")
    .option("--troubled", "only those that fail, or that the service or an operator disabled")
    .addOption(limitOption())
    .addOption(jsonOption())
    .action(async ({ org, webhook, troubled, limit, json }: ListOptions) => {
      const filter = { orgId: org, webhookId: webhook, troubled: troubled === true, limit };
      const { webhooks } = await withEvents(world, (events, operator) =>
        events.listWebhookStates({ operator, ...filter }),
      );
      const rows = webhooks.map(({ failingSince, pendingSince, disabledReason, ...state }) => ({
        ...state,
        status: enumName(WebhookStatus, state.status),
        disabledReason: disabledReason ?? null,
        failingSince: failingSince ?? null,
        eventsBehind: Number(state.eventsBehind),
        pendingSince: pendingSince ?? null,
      }));
      print(world, json, rows, table(rows));
    });
}

const STATUSES = ["PENDING", "DELIVERED", "FAILED"] as const;
type StatusName = (typeof STATUSES)[number];

function deliveries(world: World): Command {
  return new Command("deliveries")
    .description("deliveries of a webhook with their last attempts, newest first")
    .argument("<webhook>", "its id")
    .addOption(new Option("--status <status>", "only those").choices(STATUSES))
    .addOption(limitOption())
    .addOption(jsonOption())
    .action(
      async (
        webhookId: string,
        { status, limit, json }: { status?: StatusName; limit: number; json?: true },
      ) => {
        const wanted = { webhookId, status: DeliveryStatus[status ?? "UNSPECIFIED"], limit };
        const { deliveries } = await withEvents(world, (events, operator) =>
          events.listWebhookDeliveries({ operator, ...wanted }),
        );
        const items = deliveries.map(itemOf);
        print(world, json, items, table(items.map(rowOf)));
      },
    );
}

function itemOf({ attempts, status, ...delivery }: Delivery) {
  return {
    ...delivery,
    sequence: delivery.sequence ?? null,
    status: enumName(DeliveryStatus, status),
    attempts: attempts.length,
    nextAttemptAt: delivery.nextAttemptAt ?? null,
    finishedAt: delivery.finishedAt ?? null,
    tries: attempts,
  };
}

function rowOf({ tries, ...delivery }: ReturnType<typeof itemOf>) {
  const { deliveryId, eventId, eventType, sequence, status, attempts, nextAttemptAt } = delivery;
  const { statusCode = null, durationMs = null, error = null } = tries.at(-1) ?? {};
  return {
    ...{ deliveryId, eventId, eventType, sequence, status, attempts, nextAttemptAt },
    ...{ statusCode, durationMs, error },
  };
}

function disable(world: World): Command {
  return new Command("disable")
    .description("send a webhook nothing more; its events wait, and its organisation gets webhook.disabled")
    .argument("<webhook>", "its id")
    .addOption(reasonOption())
    .action(async (webhookId: string, { reason }: { reason: string }) => {
      await withEvents(world, (events, operator) => events.disableWebhook({ operator, webhookId }), reason);
      world.out(`${webhookId} is DISABLED. Attempts under way may still arrive.\n`);
    });
}

function enable(world: World): Command {
  return new Command("enable")
    .description("send a webhook its events again, beginning with those that waited")
    .argument("<webhook>", "its id")
    .addOption(reasonOption())
    .action(async (webhookId: string, { reason }: { reason: string }) => {
      await withEvents(world, (events, operator) => events.enableWebhook({ operator, webhookId }), reason);
      world.out(`${webhookId} is ENABLED.\n`);
    });
}

/** Deliveries of one request. */
const MAX_REPLAY = 10_000;

interface ReplayOptions {
  reason: string;
  failed?: true;
  after?: bigint;
  upTo?: bigint;
}

function replay(world: World): Command {
  return new Command("replay")
    .description(`deliver events again: the failed deliveries, or a range; at most ${MAX_REPLAY} at once`)
    .argument("<webhook>", "its id")
    .option("--failed", "the FAILED deliveries, and those that pause after a failed attempt")
    .addOption(new Option("--after <sequence>", "events behind this sequence").argParser(bigNumber))
    .addOption(new Option("--up-to <sequence>", "up to this sequence").argParser(bigNumber))
    .addOption(reasonOption())
    .action(async (webhookId: string, options: ReplayOptions) => {
      const wanted = readReplay(options);
      const { deliveries } = await withEvents(
        world,
        (events, operator) => events.replayDeliveries({ operator, webhookId, wanted }),
        options.reason,
      );
      world.out(`${deliveries} deliveries follow.\n`);
    });
}

function readReplay({ failed, after, upTo }: ReplayOptions): ReplayDeliveriesRequest["wanted"] {
  if (failed && after === undefined && upTo === undefined) return { $case: "failed", value: true };
  if (!failed && after !== undefined && upTo !== undefined) return { $case: "range", value: { after, upTo } };
  throw new Refusal("State which: --failed, or --after and --up-to.");
}

function withEvents<T>(
  world: World,
  work: (events: PromiseClient<typeof EventsAdminServiceService>, operator: Operator) => Promise<T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, "events", EventsAdminServiceService, (events) => work(events, operator));
}
