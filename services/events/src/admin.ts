import {
  bigNumber,
  jsonOption,
  limitOption,
  openWorld,
  organisationId,
  print,
  Refusal,
  runCommands,
  table,
  withDatabase,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { type Database } from "@wonrail/kit/db";
import { listConsumers } from "@wonrail/kit/inbox";
import { Command, Option } from "commander";
import { readAdminConfig, type AdminConfig } from "./config";
import {
  type Delivery,
  type DeliveryWithAttempts,
  disableWebhook,
  enableWebhook,
  findOwner,
  listDeliveries,
  listWebhookViews,
  MAX_REPLAY,
  replayWebhook,
  type ReplayWanted,
} from "./webhooks";

// The operators' commands. They work on the database that all replicas share; a replica sees a change within a second.

type World = CommandWorld<AdminConfig>;

const EXAMPLES = `
Examples:
  $ npx wonrail webhook list --troubled
  $ npx wonrail webhook deliveries whk_0192f0c1a2b37c4d8e5f60718293a4b5 --status FAILED
  $ npx wonrail webhook replay whk_0192f0c1a2b37c4d8e5f60718293a4b5 --failed
  $ npx wonrail consumer list
  $ npx wonrail webhook disable whk_0192f0c1a2b37c4d8e5f60718293a4b5

Uses DATABASE_URL, or else the stack that "npm run up" started.`;

export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(args, openWorld(readAdminConfig));
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(readAdminConfig)).commands;
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
      const rows = await inEvents(world, listConsumers);
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
      const filter = { orgId: org ?? null, webhookId: webhook ?? null, isTroubled: troubled === true, limit };
      const rows = await inEvents(world, (db) => listWebhookViews(db, filter));
      print(world, json, rows, table(rows));
    });
}

const STATUSES: Delivery["status"][] = ["PENDING", "DELIVERED", "FAILED"];

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
        { status = null, limit, json }: { status?: Delivery["status"] | null; limit: number; json?: true },
      ) => {
        const page = { limit, offset: 0, after: null };
        const { items } = await ofWebhook(world, webhookId, (db, orgId) =>
          listDeliveries({ db }, { orgId, webhookId, status }, page),
        );
        print(world, json, items, table(items.map(rowOf)));
      },
    );
}

function rowOf({ tries, ...delivery }: DeliveryWithAttempts) {
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
    .action(async (webhookId: string) => {
      await ofWebhook(world, webhookId, (db, orgId) => disableWebhook({ db }, { orgId, webhookId }));
      world.out(`${webhookId} is DISABLED. Attempts under way may still arrive.\n`);
    });
}

function enable(world: World): Command {
  return new Command("enable")
    .description("send a webhook its events again, beginning with those that waited")
    .argument("<webhook>", "its id")
    .action(async (webhookId: string) => {
      await ofWebhook(world, webhookId, (db, orgId) => enableWebhook({ db }, { orgId, webhookId }));
      world.out(`${webhookId} is ENABLED.\n`);
    });
}

interface ReplayOptions {
  failed?: true;
  after?: bigint;
  upTo?: bigint;
}

function replay(world: World): Command {
  return new Command("replay")
    .description(`deliver events again: the FAILED deliveries, or a range; at most ${MAX_REPLAY} at once`)
    .argument("<webhook>", "its id")
    .option("--failed", "the deliveries without an attempt left")
    .addOption(new Option("--after <sequence>", "events behind this sequence").argParser(bigNumber))
    .addOption(new Option("--up-to <sequence>", "up to this sequence").argParser(bigNumber))
    .action(async (webhookId: string, options: ReplayOptions) => {
      const wanted = readReplay(options);
      const { answer } = await ofWebhook(world, webhookId, (db, orgId) =>
        replayWebhook({ db }, { orgId, webhookId }, wanted),
      );
      world.out(`${answer.deliveries} deliveries follow.\n`);
    });
}

function readReplay({ failed, after, upTo }: ReplayOptions): ReplayWanted {
  if (failed && after === undefined && upTo === undefined) return "failed";
  if (!failed && after !== undefined && upTo !== undefined) return { after, upTo };
  throw new Refusal("State which: --failed, or --after and --up-to.");
}

/** Finds the webhook's organisation, because every statement names it. */
function ofWebhook<T>(
  world: World,
  webhookId: string,
  work: (db: Database, orgId: string) => Promise<T>,
): Promise<T> {
  return inEvents(world, async (db) => {
    const orgId = await findOwner(db, webhookId);
    if (orgId === undefined) throw new Refusal(`There is no webhook ${webhookId}. See: webhook list.`);
    return work(db, orgId);
  });
}

function inEvents<T>(world: World, work: (db: Database) => Promise<T>): Promise<T> {
  return withDatabase(world.config, "events", work);
}
