import { Command, Option } from "commander";
import {
  bigNumber,
  jsonOption,
  limitOption,
  lines,
  operatorMessage,
  print,
  reasonOption,
  Refusal,
  type ServiceName,
  table,
  withService,
} from "@wonrail/kit/command";
import { enumName, type PromiseClient } from "@wonrail/kit/grpc/client";
import {
  AdminServiceService,
  type DeadLetter,
  DeadLetterState,
  type ReplayDeadLettersRequest,
} from "@wonrail/proto/common/v1/admin";
import { type Operator } from "@wonrail/proto/common/v1/common";
import { type World } from "./withAuth";

interface LetterOptions {
  service: ServiceName;
  json?: boolean;
}

export function deadLetterCommands(world: World): Command {
  return new Command("dead-letter")
    .description("events that a service could not work on")
    .addCommand(ofService(list(world)))
    .addCommand(ofService(show(world)))
    .addCommand(ofService(replay(world)))
    .addCommand(ofService(drop(world)));
}

/**
 * Each service has its own dead letters. In a cluster, run `kit/bin/deadLetters.mjs` in the
 * service's pod.
 */
function ofService(command: Command): Command {
  const services = ["auth", "wallet", "ledger", "payment", "chain-relayer", "events"];
  return command
    .addOption(new Option("--service <name>", "whose").choices(services).makeOptionMandatory())
    .addOption(jsonOption());
}

function withAdmin<T>(
  world: World,
  service: ServiceName,
  work: (client: PromiseClient<typeof AdminServiceService>, operator: Operator) => Promise<T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, service, AdminServiceService, (client) => work(client, operator));
}

const STATES = ["dead", "replay_requested", "replayed", "dropped"] as const;
type State = (typeof STATES)[number];

function list(world: World): Command {
  return new Command("list")
    .description(
      "events that a service could not handle, newest first; ended ones with --state replayed or dropped",
    )
    .addOption(new Option("--state <state>", "only those in this state").choices(STATES))
    .option("--before <id>", "go on below this id", bigNumber)
    .addOption(limitOption())
    .action(async (options: LetterOptions & { state?: State; before?: bigint; limit: number }) => {
      const { service, state, before, limit, json } = options;
      const wanted = DeadLetterState[(state?.toUpperCase() ?? "UNSPECIFIED") as Uppercase<State>];
      const { deadLetters } = await withAdmin(world, service, (client, operator) =>
        client.listDeadLetters({ operator, state: wanted, beforeId: before, limit }),
      );
      const rows = deadLetters.map(rowOf);
      print(
        world,
        json,
        rows,
        table(rows, ["id", "group", "type", "key", "failures", "failedAt", "state", "error"]),
      );
    });
}

function rowOf(letter: DeadLetter) {
  const { id, consumerGroup, topic, partition, feedNumber, messageKey, eventType, failedAt, state } = letter;
  return {
    ...{ id: id.toString(), group: consumerGroup, topic, partition, number: feedNumber?.toString() ?? null },
    ...{ key: messageKey, type: eventType, error: letter.error, failures: letter.failures },
    failedAt: failedAt!.toISOString(),
    state: enumName(DeadLetterState, state)?.toLowerCase(),
  };
}

function show(world: World): Command {
  return new Command("show")
    .description("one of these events with its content and its error")
    .requiredOption("--id <id>", "as dead-letter list shows it", bigNumber)
    .action(async ({ service, id, json }: LetterOptions & { id: bigint }) => {
      const { deadLetter, headers, payload } = await withAdmin(world, service, (client, operator) =>
        client.getDeadLetter({ operator, id }),
      );
      if (!deadLetter) throw new Refusal(`${service} has no dead letter with the id ${id}.`);
      const record = rowOf(deadLetter);
      const whole = { ...record, headers, payloadBase64: payload.toString("base64") };
      const human = [...lines({ ...record, payload: `${payload.length} bytes` }), "", ...lines(headers)];
      print(world, json, whole, human);
    });
}

function replay(world: World): Command {
  return new Command("replay")
    .description("let the running service handle such an event again, within seconds")
    .addOption(new Option("--id <id>", "this one").argParser(bigNumber).conflicts("group"))
    .option("--group <name>", "all of this consumer group")
    .addOption(reasonOption())
    .action(async (options: LetterOptions & { id?: bigint; group?: string; reason: string }) => {
      const { service, id, group, reason, json } = options;
      if (id === undefined && group === undefined) throw new Refusal("Give --id or --group.");
      const which: ReplayDeadLettersRequest["which"] =
        id === undefined ? { $case: "consumerGroup", value: group! } : { $case: "id", value: id };
      const { requested } = await withAdmin(
        world,
        service,
        (client, operator) => client.replayDeadLetters({ operator, which }),
        reason,
      );
      if (requested === 0) throw new Refusal("There is no such dead letter that waits for a replay.");
      print(world, json, { requested }, [
        `${requested} will be tried again; dead-letter list shows their outcome.`,
      ]);
    });
}

function drop(world: World): Command {
  return new Command("drop")
    .description("give such an event up for good; its row stays, in the state dropped")
    .requiredOption("--id <id>", "as dead-letter list shows it", bigNumber)
    .addOption(reasonOption())
    .action(async ({ service, id, reason, json }: LetterOptions & { id: bigint; reason: string }) => {
      await withAdmin(world, service, (client, operator) => client.dropDeadLetter({ operator, id }), reason);
      print(world, json, { dropped: id }, [`${id} is dropped.`]);
    });
}
