import { AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { type Operator, type Proposal, ProposalState } from "@wonrail/proto/common/v1/common";
import { Command, Option } from "commander";
import { enumName, type PromiseClient } from "../grpc/client";
import { ADDRESS_VARIABLES, type ClientConfig, readClientConfig, type ServiceName } from "./config";
import { jsonOption, limitOption, reasonOption } from "./options";
import { lines, print, table } from "./print";
import { openWorld, runCommands, type ExitCode, type World } from "./runCommands";
import { operatorMessage, withService } from "./withService";

/** Lists, approves and rejects the actions that wait for a second operator. */
export function proposalCommands(world: World<ClientConfig>): Command {
  return new Command("proposal")
    .description("actions that wait for the approval of a second operator")
    .addCommand(list(world))
    .addCommand(approve(world))
    .addCommand(reject(world));
}

/** The program for a service's pod, where only that service can be called. */
export function main(args: string[]): Promise<ExitCode> {
  const service = serviceIn(args);
  return runProposals(
    args,
    openWorld(() => readClientConfig(service)),
  );
}

export function runProposals(args: string[], world: World<ClientConfig>): Promise<ExitCode> {
  const program = new Command("proposals").addCommand(proposalCommands(world));
  return runCommands(program, ["proposal", ...args], world);
}

/** Tells what a call proposed, and the command for the second operator. */
export function printProposal(
  { out }: Pick<World<unknown>, "out">,
  service: ServiceName,
  { proposalId, effect, expiresAt }: Proposal,
): void {
  out(
    `Nothing has changed yet. Proposed as ${proposalId}: ${effect}\n` +
      `Another operator must approve it before ${expiresAt!.toISOString()}:\n` +
      `  npx wonrail proposal approve ${proposalId} --service ${service} --operator NAME --reason TEXT\n`,
  );
}

const SERVICES = Object.keys(ADDRESS_VARIABLES) as ServiceName[];
const STATES = ["open", "approved", "rejected", "withdrawn", "expired"] as const;
type StateOption = (typeof STATES)[number];

function serviceIn(args: string[]): ServiceName | undefined {
  const at = args.findIndex((arg) => arg === "--service" || arg.startsWith("--service="));
  const name = at < 0 ? undefined : (args[at]!.split("=")[1] ?? args[at + 1]);
  return SERVICES.find((service) => service === name);
}

interface ListOptions {
  service?: ServiceName;
  state: StateOption;
  limit: number;
  json?: true;
}

function list(world: World<ClientConfig>): Command {
  return new Command("list")
    .description("proposals of one service or of all, newest first")
    .addOption(new Option("--service <name>", "only this service's").choices(SERVICES))
    .addOption(new Option("--state <state>", "those in this state").choices(STATES).default("open"))
    .addOption(limitOption())
    .addOption(jsonOption())
    .action(async ({ service, state, limit, json }: ListOptions) => {
      const wanted = ProposalState[state.toUpperCase() as Uppercase<StateOption>];
      const rows: ReturnType<typeof rowOf>[] = [];
      for (const owner of service === undefined ? SERVICES : [service]) {
        const { proposals } = await withAdmin(world, owner, (client, operator) =>
          client.listProposals({ operator, state: wanted, limit, beforeId: undefined }),
        );
        rows.push(...proposals.map((proposal) => rowOf(owner, proposal)));
      }
      const columns = ["service", "proposalId", "state", "proposedBy", "expiresAt", "effect"] as const;
      print(world, json, rows, table(rows, [...columns]));
    });
}

function rowOf(service: ServiceName, { state, role: _role, ...proposal }: Proposal) {
  return { service, ...proposal, state: enumName(ProposalState, state) };
}

interface DecideOptions {
  service: ServiceName;
  reason: string;
  json?: true;
}

function approve(world: World<ClientConfig>): Command {
  return decide(world, "approve", "do what another operator proposed", async (client, request) => {
    const { approved } = await client.approveProposal(request);
    return approved!;
  });
}

function reject(world: World<ClientConfig>): Command {
  const summary = "end a proposal without its action; your own is withdrawn";
  return decide(world, "reject", summary, async (client, request) => {
    const { ended } = await client.rejectProposal(request);
    return ended!;
  });
}

type AdminClient = PromiseClient<typeof AdminServiceService>;

function decide(
  world: World<ClientConfig>,
  verb: string,
  summary: string,
  call: (client: AdminClient, request: { operator: Operator; proposalId: string }) => Promise<Proposal>,
): Command {
  return new Command(verb)
    .description(summary)
    .argument("<proposal>", "its id")
    .addOption(new Option("--service <name>", "whose").choices(SERVICES).makeOptionMandatory())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(async (proposalId: string, { service, reason, json }: DecideOptions) => {
      const work = (client: AdminClient, operator: Operator) => call(client, { operator, proposalId });
      const row = rowOf(service, await withAdmin(world, service, work, reason));
      const { state, effect, proposedBy, decidedBy } = row;
      print(world, json, row, lines({ proposalId, state, effect, proposedBy, decidedBy }));
    });
}

function withAdmin<T>(
  world: World<ClientConfig>,
  service: ServiceName,
  work: (client: AdminClient, operator: Operator) => Promise<T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, service, AdminServiceService, (client) => work(client, operator));
}
