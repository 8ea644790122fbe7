import { parseArgs } from "node:util";
import {
  AdminServiceService,
  type DeadLetter,
  DeadLetterState,
  type ReplayDeadLettersRequest,
} from "@wonrail/proto/common/v1/admin";
import { ADDRESS_VARIABLES, type ClientConfig, readClientConfig, type ServiceName } from "../command/config";
import { bigNumber } from "../command/options";
import { exitCodeOf, Refusal, TERMINAL, type ExitCode } from "../command/runCommands";
import { operatorMessage, withService } from "../command/withService";
import { type PromiseClient } from "../grpc/client";

const HELP = `Events that this service could not handle. Run the command in the service's pod.

  node /app/kit/bin/deadLetters.mjs list --service NAME             newest first, one JSON object a line
  node /app/kit/bin/deadLetters.mjs replay --service NAME --id ID --reason TEXT
                                                                    the running service tries it again, within seconds
  node /app/kit/bin/deadLetters.mjs replay --service NAME --group GROUP --reason TEXT
  node /app/kit/bin/deadLetters.mjs drop --service NAME --id ID --reason TEXT
                                                                    gives it up for good; its row stays

NAME is the service's name: payment, wallet, chain-relayer.
`;

const LIMIT = 50;

export async function main(args: string[], terminal = TERMINAL, config?: ClientConfig): Promise<ExitCode> {
  if (args.includes("--help")) return (terminal.out(HELP), 0);
  const options = parse(args);
  if (options === undefined) return (terminal.err(HELP), 2);
  return exitCodeOf(terminal, async () => {
    const { service } = options;
    const place = config ?? readClientConfig(service);
    const work = (client: AdminClient) => answer(client, place, options);
    terminal.out(await withService(place, service, AdminServiceService, work));
  });
}

type AdminClient = PromiseClient<typeof AdminServiceService>;

async function answer(client: AdminClient, config: ClientConfig, options: Options): Promise<string> {
  const world = { config };
  if (options.verb === "list") {
    const wanted = { state: DeadLetterState.UNSPECIFIED, beforeId: undefined, limit: LIMIT };
    const { deadLetters } = await client.listDeadLetters({ operator: operatorMessage(world), ...wanted });
    return deadLetters.map((letter) => `${lineOf(letter)}\n`).join("");
  }
  const operator = operatorMessage(world, options.reason);
  if (options.verb === "drop") {
    await client.dropDeadLetter({ operator, id: options.id });
    return `${options.id} is dropped.\n`;
  }
  const { requested } = await client.replayDeadLetters({ operator, which: options.which });
  if (requested === 0) throw new Refusal("There is no such dead letter that waits for a replay.");
  return `${requested} will be tried again; list shows their outcome.\n`;
}

function lineOf(letter: DeadLetter): string {
  return JSON.stringify(letter, (_key, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
}

type Which = NonNullable<ReplayDeadLettersRequest["which"]>;
type Options = { service: ServiceName } & (
  | { verb: "list" }
  | { verb: "replay"; which: Which; reason: string }
  | { verb: "drop"; id: bigint; reason: string }
);

function parse(args: string[]): Options | undefined {
  const option = { type: "string" } as const;
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { service: option, id: option, group: option, reason: option },
    });
    const [verb] = positionals;
    const { service, id, group, reason } = values;
    if (service === undefined || !isService(service) || positionals.length !== 1) return undefined;
    if (verb === "list" && id === undefined && group === undefined) return { verb, service };
    if (verb === "drop" && id !== undefined && group === undefined && reason !== undefined)
      return { verb, service, id: bigNumber(id), reason };
    if (verb !== "replay" || reason === undefined || (id === undefined) === (group === undefined))
      return undefined;
    const which: Which =
      group === undefined ? { $case: "id", value: bigNumber(id!) } : { $case: "consumerGroup", value: group };
    return { verb, service, which, reason };
  } catch {
    return undefined; // An option that is not known, or an id that can be none.
  }
}

function isService(name: string): name is ServiceName {
  return Object.hasOwn(ADDRESS_VARIABLES, name);
}
