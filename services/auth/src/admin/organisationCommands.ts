import { Command, Option } from "commander";
import {
  jsonOption,
  limitOption,
  lines,
  print,
  printProposal,
  reasonOption,
  Refusal,
  table,
  time,
  wholeNumber,
} from "@wonrail/kit/command";
import { formatWon, type Won } from "@wonrail/kit/contract/money";
import { enumName } from "@wonrail/kit/grpc/client";
import { type CreateOrganisationResponse, type OrganisationTerms } from "@wonrail/proto/auth/v1/admin";
import { type Organisation, OrganisationStatus, Plan } from "@wonrail/proto/auth/v1/auth";
import { ORGANISATION_STATUSES, type OrganisationStatus as StatusName } from "../domain/organisations";
import { type Plan as PlanName, PLANS } from "../domain/plans";
import { amount } from "./options";
import { withSecretShown, withAuth, type World } from "./withAuth";

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
    async ({ code, json, reason, ...options }: TermOptions & { name: string; code: string }) => {
      const terms = termsOf(options);
      await withSecretShown(
        world,
        reason,
        (auth, operator) => auth.createOrganisation({ operator, code, terms }),
        (made) => printCreated(world, json, made),
      );
    },
  );
}

function printCreated(world: World, json: boolean | undefined, made: CreateOrganisationResponse): void {
  const keys = {
    apiKey: made.apiKey,
    expiresAt: made.key!.expiresAt!.toISOString(),
    secretKey: made.secretKey,
  };
  const organisation = describe(made.organisation!);
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
    .description("change the stated terms; the others stay; higher limits of money become a proposal")
    .requiredOption("--code <code>", "which organisation")
    .option("--name <name>", "the partner's name")
    .addOption(
      new Option("--status <status>", "SUSPENDED also stops scheduled transfers").choices(
        ORGANISATION_STATUSES,
      ),
    );
  return withTerms(command).action(
    async ({ code, json, reason, operator: _operator, ...options }: TermOptions & { code: string }) => {
      if (Object.keys(options).length === 0)
        throw new Refusal("There is nothing to change: give at least one option.");
      const { organisation, proposal } = await withAuth(
        world,
        (auth, operator) => auth.setOrganisation({ operator, code, terms: termsOf(options) }),
        reason,
      );
      if (proposal) return json ? print(world, json, proposal, []) : printProposal(world, "auth", proposal);
      const changed = describe(organisation!);
      print(world, json, changed, lines(changed));
    },
  );
}

function list(world: World): Command {
  return new Command("list")
    .description("all organisations, in the order of their codes")
    .option("--after <code>", "go on after this code", "")
    .addOption(limitOption())
    .addOption(jsonOption())
    .action(async ({ after, limit, json }: { after: string; limit: number; json?: boolean }) => {
      const { organisations } = await withAuth(world, (auth, operator) =>
        auth.listOrganisations({ operator, afterCode: after, limit }),
      );
      const rows = organisations.map(({ organisation, subscriptionActive }) => ({
        ...describe(organisation!),
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
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(async ({ code, reason, json }: { code: string; reason: string; json?: boolean }) => {
      await withSecretShown(
        world,
        reason,
        (auth, operator) => auth.rotateOrganisationSecret({ operator, code }),
        ({ secretKey }) => {
          const result = { orgCode: code, secretKey };
          const advice = "The old secret key no longer works. This one cannot be shown again.";
          print(world, json, result, [...lines(result), "", advice]);
        },
      );
    });
}

interface TermOptions {
  reason: string;
  operator?: string;
  name?: string;
  status?: StatusName;
  plan?: PlanName;
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
    .addOption(reasonOption())
    .addOption(jsonOption());
}

function termsOf(options: Omit<TermOptions, "reason">): OrganisationTerms {
  const amountOf = (value: Won | undefined) => (value === undefined ? undefined : formatWon(value));
  return {
    name: options.name,
    status: OrganisationStatus[options.status ?? "UNSPECIFIED"],
    plan: Plan[options.plan ?? "UNSPECIFIED"],
    subscriptionStartsAt: options.subscriptionStarts,
    subscriptionEndsAt: options.subscriptionEnds,
    incentiveRateBps: options.incentiveBps,
    dailyTransferLimitWon: amountOf(options.dailyLimit),
    dailyChargeLimitWon: amountOf(options.dailyChargeLimit),
    maxChargeWon: amountOf(options.maxCharge),
    ratePerSecond: options.rate,
    rateBurst: options.burst,
  };
}

function describe(organisation: Organisation) {
  return {
    orgCode: organisation.code,
    orgId: organisation.orgId,
    name: organisation.name,
    status: enumName(OrganisationStatus, organisation.status),
    plan: enumName(Plan, organisation.plan),
    subscriptionStarts: organisation.subscriptionStartsAt!.toISOString(),
    subscriptionEnds: organisation.subscriptionEndsAt!.toISOString(),
    incentiveBps: organisation.incentiveRateBps,
    dailyLimit: Number(organisation.dailyTransferLimitWon),
    dailyChargeLimit: Number(organisation.dailyChargeLimitWon),
    maxCharge: Number(organisation.maxChargeWon),
    rate: organisation.ratePerSecond,
    burst: organisation.rateBurst,
  };
}
