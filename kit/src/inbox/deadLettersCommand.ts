import { parseArgs } from "node:util";
import { readConfig, type CommandConfig } from "../command/config";
import { bigNumber } from "../command/options";
import { exitCodeOf, Refusal, TERMINAL, type ExitCode } from "../command/runCommands";
import { withDatabase } from "../command/withDatabase";
import { type Database } from "../db";
import { type DeadLetterSummary, listDeadLetters, replayDeadLetters } from "./deadLetters";

const HELP = `Events that this service could not handle. Works on the DATABASE_URL of the pod.

  node /app/kit/bin/deadLetters.mjs list --schema SCHEMA             newest first, one JSON object a line
  node /app/kit/bin/deadLetters.mjs replay --schema SCHEMA --id ID   the running service tries it again, within seconds
  node /app/kit/bin/deadLetters.mjs replay --schema SCHEMA --group GROUP

SCHEMA is the service's name with _ for -: payment, wallet, chain_relayer.
`;

export async function main(args: string[], terminal = TERMINAL, config?: CommandConfig): Promise<ExitCode> {
  if (args.includes("--help")) return (terminal.out(HELP), 0);
  const options = parse(args);
  if (options === undefined) return (terminal.err(HELP), 2);
  return exitCodeOf(terminal, async () => {
    const output = await withDatabase(config ?? readConfig(), options.schema, (db) => answer(db, options));
    terminal.out(output);
  });
}

async function answer(db: Database, options: Options): Promise<string> {
  if (options.verb === "list") {
    const letters = await listDeadLetters(db);
    return letters.map((letter) => `${lineOf(letter)}\n`).join("");
  }
  const requested = await replayDeadLetters(db, options.which);
  if (requested === 0) throw new Refusal("There is no such dead letter that waits for a replay.");
  return `${requested} will be tried again; list shows their outcome.\n`;
}

function lineOf(letter: DeadLetterSummary): string {
  return JSON.stringify({ ...letter, id: `${letter.id}`, number: letter.number?.toString() ?? null });
}

type Options = NonNullable<ReturnType<typeof parse>>;

function parse(args: string[]) {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { schema: { type: "string" }, id: { type: "string" }, group: { type: "string" } },
    });
    const [verb] = positionals;
    const { schema, id, group } = values;
    if (schema === undefined || positionals.length !== 1) return undefined;
    if (verb === "list" && id === undefined && group === undefined) return { verb, schema } as const;
    if (verb !== "replay" || (id === undefined) === (group === undefined)) return undefined;
    return { verb, schema, which: group === undefined ? { id: bigNumber(id!) } : { group } } as const;
  } catch {
    return undefined; // An option that is not known, or an id that can be none.
  }
}
