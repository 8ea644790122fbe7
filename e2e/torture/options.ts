import { parseArgs } from "node:util";
import { FAULTS } from "./nemesis/faults";

export interface CliOptions {
  seeds: number[];
  operations: number;
  faults: number;
  minutes?: number;
  kinds?: string[];
  brokers: number;
  ha: boolean;
  clients?: number;
  folder?: string;
  prefix?: number;
  speed?: number;
  /** Runs that may search for the shortest failing schedule. */
  shrink: number;
  /** The history of an earlier run, which is checked again. */
  replay?: string;
}

export const USAGE = `npm run torture -- [options]

  --seed N       the seed; several are separated by commas (default: from the clock)
  --ops N        at least so many operations (default: 2000)
  --faults N     so many faults (default: 8)
  --minutes M    go on for so long instead of a number of operations
  --kinds a,b    only these kinds of faults
  --brokers N    Kafka brokers; 0: without Kafka (default: 1 where Java is found)
  --ha           three PostgreSQL servers under Patroni, with the faults of such a set
  --clients N    so many clients at once (default: 12)
  --folder DIR   where the history goes (default: a new temporary folder)
  --speed N      shorten each fault N times
  --prefix N     only the first N faults of the schedule
  --shrink N     after a failure, at most N more runs search for the shortest failing schedule
                 (default: 8; 0: none)
  --replay FILE  check the history.jsonl of an earlier run again, and run nothing
  --known        the seeds of seeds.json too

Kinds: ${FAULTS.map(({ name }) => name).join(", ")}
`;

/** Reads the command line. `defaultBrokers` depends on the machine. */
export function readOptions(
  args: string[],
  { defaultBrokers, knownSeeds, nowMs }: { defaultBrokers: number; knownSeeds: number[]; nowMs: number },
): CliOptions {
  const options = Object.fromEntries(NAMES.map((name) => [name, { type: "string" as const }]));
  const { values } = parseArgs({ args, options: { ...options, known: FLAG, ha: FLAG } });
  const given = values as Partial<Record<(typeof NAMES)[number], string>> & {
    known?: boolean;
    ha?: boolean;
  };
  const seeds = given.seed?.split(",").map((seed) => readNumber("seed", seed)) ?? [nowMs % 1_000_000];
  return {
    seeds: [...new Set([...(given.known ? knownSeeds : []), ...seeds])],
    operations: readNumber("ops", given.ops ?? "2000"),
    faults: readNumber("faults", given.faults ?? "8"),
    brokers: readNumber("brokers", given.brokers ?? String(defaultBrokers)),
    ha: given.ha ?? false,
    ...(given.minutes === undefined ? {} : { minutes: readNumber("minutes", given.minutes) }),
    ...(given.clients === undefined ? {} : { clients: readNumber("clients", given.clients) }),
    ...(given.kinds === undefined ? {} : { kinds: given.kinds.split(",") }),
    ...(given.folder === undefined ? {} : { folder: given.folder }),
    ...(given.prefix === undefined ? {} : { prefix: readNumber("prefix", given.prefix) }),
    ...(given.speed === undefined ? {} : { speed: readNumber("speed", given.speed) }),
    shrink: readNumber("shrink", given.shrink ?? "8"),
    ...(given.replay === undefined ? {} : { replay: given.replay }),
  };
}

const FLAG = { type: "boolean" as const };
const NAMES = [
  ...(["seed", "ops", "faults", "minutes", "kinds", "brokers", "clients", "folder"] as const),
  ...(["speed", "prefix", "shrink", "replay"] as const),
];

function readNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} is "${text}": it takes a whole number.`);
}
