import { Command, Option } from "commander";
import {
  jsonOption,
  limitOption,
  lines,
  print,
  Refusal,
  table,
  time,
  wholeNumber,
} from "@wonrail/kit/command";
import { type Won } from "@wonrail/kit/contract/money";
import { ORGANISATION_STATUSES, type Organisation, type OrganisationTerms } from "../domain/organisations";
import { PLANS, type Plan } from "../domain/plans";
import { type CreatedOrganisation } from "../commands/createOrganisation";
import { amount } from "./options";
import { actorOf, withSecretShown, withAuth, type World } from "./withAuth";

export function organisationCommands(world: World): Command {
  return new Command("org")
    .description("partner organisations")
    .addCommand(create(world))
    .addCommand(set(world))
    .addCommand(list(world))
    .addCommand(rotateSecret(world));
}

function create(world: World): Command {
  const command = new Command("create")
    .description("create an organisation with its secret key and its first API key; both are shown once")
    .requiredOption("--name <name>", "the partner's name")
    .requiredOption("--code <code>", "what the partner writes in X-Org-Code");
  return withTerms(command).action(
    async ({ code, json, ...options }: TermOptions & { name: string; code: string }) => {
      const input = { ...termsOf(options), name: options.name, code, actor: actorOf(world) };
      await withSecretShown(
        world,
        (auth) => auth.createOrganisation(input),
        (made) => printCreated(world, json, made),
      );
    },
  );
}

function printCreated(world: World, json: boolean | undefined, made: CreatedOrganisation): void {
  const keys = {
    apiKey: made.apiKey,
    expiresAt: made.key.expiresAt.toISOString(),
    secretKey: made.secretKey,
  };
  const organisation = describe(made.organisation);
  print(world, json, { ...organisation, ...keys }, [
    ...lines(organisation),
    "",
    ...lines(keys),
    "",
    "Hand both keys over now: they are not stored and cannot be shown again.",
  ]);
}

function set(world: World): Command {
  const command = new Command("set")
    .description("change the stated terms; the others stay")
    .requiredOption("--code <code>", "which organisation")
    .option("--name <name>", "the partner's name")
    .addOption(
      new Option("--status <status>", "SUSPENDED also stops scheduled transfers").choices(
        ORGANISATION_STATUSES,
      ),
    );
  return withTerms(command).action(async ({ code, json, ...options }: TermOptions & { code: string }) => {
    const change = termsOf(options);
    if (Object.keys(change).length === 0)
      throw new Refusal("There is nothing to change: give at least one option.");
    const changed = await withAuth(world, (auth) =>
      auth.setOrganisation({ code, change, actor: actorOf(world) }),
    );
    print(world, json, describe(changed), lines(describe(changed)));
  });
}

function list(world: World): Command {
  return new Command("list")
    .description("all organisations, in the order of their codes")
    .option("--after <code>", "go on after this code", "")
    .addOption(limitOption())
    .addOption(jsonOption())
    .action(async ({ after, limit, json }: { after: string; limit: number; json?: boolean }) => {
      const found = await withAuth(world, (auth) => auth.listOrganisations({ afterCode: after, limit }));
      const rows = found.map(({ organisation, subscriptionActive }) => ({
        ...describe(organisation),
        subscriptionActive,
      }));
      const columns = [
        "orgCode",
        "name",
        "status",
        "plan",
        "subscriptionEnds",
        "subscriptionActive",
        "rate",
      ] as const;
      print(world, json, rows, table(rows, [...columns]));
    });
}

function rotateSecret(world: World): Command {
  return new Command("rotate-secret")
    .description("give an organisation a new secret key; its API keys stay valid")
    .requiredOption("--code <code>", "which organisation")
    .addOption(jsonOption())
    .action(async ({ code, json }: { code: string; json?: boolean }) => {
      const input = { code, actor: actorOf(world) };
      await withSecretShown(
        world,
        (auth) => auth.rotateSecretKey(input),
        ({ secretKey }) => {
          const result = { orgCode: code, secretKey };
          const advice = "The old secret key no longer works. This one cannot be shown again.";
          print(world, json, result, [...lines(result), "", advice]);
        },
      );
    });
}

interface TermOptions {
  name?: string;
  status?: OrganisationTerms["status"];
  plan?: Plan;
  subscriptionStarts?: Date;
  subscriptionEnds?: Date;
  incentiveBps?: number;
  dailyLimit?: Won;
  dailyChargeLimit?: Won;
  maxCharge?: Won;
  rate?: number;
  burst?: number;
  json?: boolean;
}

function withTerms(command: Command): Command {
  return command
    .addOption(new Option("--plan <plan>", "plan with its quotas").choices(PLANS))
    .option("--subscription-starts <time>", "start of the subscription", time)
    .option("--subscription-ends <time>", "end of the subscription", time)
    .option("--incentive-bps <count>", "incentive on NORMAL payments, in basis points", wholeNumber)
    .option("--daily-limit <won>", "KRW that a wallet may transfer on a day in Seoul", amount)
    .option("--daily-charge-limit <won>", "KRW that all charges of a day in Seoul may add up to", amount)
    .option("--max-charge <won>", "KRW that one charge may be", amount)
    .option("--rate <count>", "requests a second", wholeNumber)
    .option("--burst <count>", "requests at once", wholeNumber)
    .addOption(jsonOption());
}

/** The stated terms. An absent term stays as it is. */
function termsOf(options: TermOptions): Partial<OrganisationTerms> {
  const terms = {
    name: options.name,
    status: options.status,
    plan: options.plan,
    subscriptionStartsAt: options.subscriptionStarts,
    subscriptionEndsAt: options.subscriptionEnds,
    incentiveRateBps: options.incentiveBps,
    dailyTransferLimitWon: options.dailyLimit,
    dailyChargeLimitWon: options.dailyChargeLimit,
    maxChargeWon: options.maxCharge,
    ratePerSecond: options.rate,
    rateBurst: options.burst,
  };
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

function describe(organisation: Organisation) {
  return {
    orgCode: organisation.code,
    orgId: organisation.orgId,
    name: organisation.name,
    status: organisation.status,
    plan: organisation.plan,
    subscriptionStarts: organisation.subscriptionStartsAt.toISOString(),
    subscriptionEnds: organisation.subscriptionEndsAt.toISOString(),
    incentiveBps: organisation.incentiveRateBps,
    dailyLimit: Number(organisation.dailyTransferLimitWon),
    dailyChargeLimit: Number(organisation.dailyChargeLimitWon),
    maxCharge: Number(organisation.maxChargeWon),
    rate: organisation.ratePerSecond,
    burst: organisation.rateBurst,
  };
}
