import { parseArgs } from "node:util";
import { EXIT, onServiceDatabase } from "../command/onServiceDatabase";
import { listDeadLetters, replayDeadLetters } from "./deadLetters";

const HELP = `Events that this service could not work on. Works on the DATABASE_URL of the pod.

  node /app/kit/bin/deadLetters.mjs list --schema SCHEMA             newest first, one JSON object a line
  node /app/kit/bin/deadLetters.mjs replay --schema SCHEMA --id ID   the running service tries it again, within seconds
  node /app/kit/bin/deadLetters.mjs replay --schema SCHEMA --group GROUP

SCHEMA is the service's name with _ for -: payment, wallet, chain_relayer.
`;

export async function main(
  args: string[],
  out: (text: string) => void = (text) => void process.stdout.write(text),
  databaseUrl?: string,
): Promise<number> {
  const options = parse(args);
  if (options === undefined) return (out(HELP), EXIT.usage);
  const { schema } = options;
  return onServiceDatabase({ name: "dead-letters", schema, out, databaseUrl }, async (db) => {
    if (options.verb === "list") {
      for (const letter of await listDeadLetters(db))
        out(`${JSON.stringify({ ...letter, id: letter.id.toString() })}\n`);
      return EXIT.done;
    }
    const requested = await replayDeadLetters(db, options.which);
    out(
      requested === 0
        ? "There is no such dead letter that waits for a replay.\n"
        : `${requested} will be tried again; list shows what became of them.\n`,
    );
    return requested === 0 ? EXIT.refused : EXIT.done;
  });
}

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
    return { verb, schema, which: group === undefined ? { id: BigInt(id!) } : { group } } as const;
  } catch {
    return undefined; // An option that is not known, or an id that is no number.
  }
}
