import { parseArgs } from "node:util";
import { readConfig, type CommandConfig } from "../command/config";
import { time } from "../command/options";
import { exitCodeOf, TERMINAL, type ExitCode } from "../command/runCommands";
import { withDatabase } from "../command/withDatabase";
import { republishSince } from "./store";

const HELP = `Events of this service that the bus has lost. Works on the DATABASE_URL of the pod.

  node /app/kit/bin/outbox.mjs republish --schema SCHEMA --since TIME

puts what was published since TIME, and is still kept, on the bus again: a day of it is kept. Consumers skip what they had.
TIME is 2026-11-23T04:00:00Z, with another zone 2026-11-23T13:00:00+09:00, or a day, which is its beginning in UTC.
SCHEMA is the service's name with _ for -: payment, ledger, chain_relayer.
`;

export async function main(args: string[], terminal = TERMINAL, config?: CommandConfig): Promise<ExitCode> {
  const { out, err } = terminal;
  if (args.includes("--help")) return (out(HELP), 0);
  const options = parse(args);
  if (options === undefined) return (err(HELP), 2);
  const { schema, since } = options;
  return exitCodeOf(terminal, async () => {
    const asked = await withDatabase(config ?? readConfig(), schema, (db) => republishSince(db, since));
    out(`${asked} events go out again; outbox_pending in the service's metrics says how many are left.\n`);
  });
}

function parse(args: string[]): { schema: string; since: Date } | undefined {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { schema: { type: "string" }, since: { type: "string" } },
    });
    const { schema, since } = values;
    if (positionals.join() !== "republish" || schema === undefined || since === undefined) return undefined;
    return { schema, since: time(since) };
  } catch {
    return undefined; // An option that is not known, or a time that is none.
  }
}
