import { Command, Option } from "commander";
import {
  bigNumber,
  jsonOption,
  limitOption,
  lines,
  print,
  Refusal,
  table,
  withDatabase,
} from "@wonrail/kit/command";
import { listDeadLetters, replayDeadLetters, showDeadLetter, type DeadLetter } from "@wonrail/kit/inbox";
import { type World } from "./withAuth";

interface LetterOptions {
  service: string;
  json?: boolean;
}

export function deadLetterCommands(world: World): Command {
  return new Command("dead-letter")
    .description("events that a service could not work on")
    .addCommand(ofService(list(world)))
    .addCommand(ofService(show(world)))
    .addCommand(ofService(replay(world)));
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

function list(world: World): Command {
  const states: DeadLetter["state"][] = ["dead", "replay_requested", "replayed"];
  return new Command("list")
    .description("events that a service could not handle, newest first; replayed ones with --state replayed")
    .addOption(new Option("--state <state>", "only those in this state").choices(states))
    .option("--before <id>", "go on below this id", bigNumber)
    .addOption(limitOption())
    .action(
      async (options: LetterOptions & { state?: DeadLetter["state"]; before?: bigint; limit: number }) => {
        const { service, state, before, limit, json } = options;
        const filter = {
          limit,
          ...(state ? { state } : {}),
          ...(before === undefined ? {} : { beforeId: before }),
        };
        const letters = await withDatabase(world.config, service, (db) => listDeadLetters(db, filter));
        const rows = letters.map((letter) => ({
          ...letter,
          id: letter.id.toString(),
          failedAt: letter.failedAt.toISOString(),
        }));
        print(
          world,
          json,
          rows,
          table(rows, ["id", "group", "type", "key", "failures", "failedAt", "state", "error"]),
        );
      },
    );
}

function show(world: World): Command {
  return new Command("show")
    .description("one of these events with its content and its error")
    .requiredOption("--id <id>", "as dead-letter list shows it", bigNumber)
    .action(async ({ service, id, json }: LetterOptions & { id: bigint }) => {
      const letter = await withDatabase(world.config, service, (db) => showDeadLetter(db, id));
      if (!letter) throw new Refusal(`${service} has no dead letter with the id ${id}.`);
      const { headers, payload, ...rest } = letter;
      const record = { ...rest, id: id.toString(), failedAt: letter.failedAt.toISOString() };
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
    .action(async ({ service, id, group, json }: LetterOptions & { id?: bigint; group?: string }) => {
      if (id === undefined && group === undefined) throw new Refusal("Give --id or --group.");
      const which = id === undefined ? { group: group! } : { id };
      const requested = await withDatabase(world.config, service, (db) => replayDeadLetters(db, which));
      if (requested === 0) throw new Refusal("There is no such dead letter that waits for a replay.");
      print(world, json, { requested }, [
        `${requested} will be tried again; dead-letter list shows their outcome.`,
      ]);
    });
}
