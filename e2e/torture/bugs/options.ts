import { parseArgs } from "node:util";
import { BUGS, type PlantedBug } from "./bugs";

export interface HuntOptions {
  bugs: PlantedBug[];
  attempts: Attempt[];
  /** Seeds that are known to pass without a bug. */
  sound: string[];
  /** Further options of each run. */
  run: string[];
}

/** A run that may find a bug. */
export interface Attempt {
  seed: string;
  operations: string;
  faults: string;
}

export const USAGE = `npm run torture:bugs -- [options]

  --only a,b     only bugs whose name or file contains one of the texts
  --seeds a,b    the seeds, tried one after the other (default: 1,2,3)
  --sizes a,b    operations and faults of the runs (default: 500x4,5000x20). The first seed has a run
                 of each size, the others have one of the last size
  --sound a,b    seeds that passed without a bug before; each other seed first runs without one
  --kinds a,b    only these kinds of faults
  --brokers N    Kafka brokers (default: 1 where Java is found)
`;

export function readHuntOptions(args: string[]): HuntOptions {
  const text = { type: "string" as const };
  const { values } = parseArgs({
    args,
    options: { only: text, seeds: text, sizes: text, sound: text, kinds: text, brokers: text },
  });
  const { only = "", seeds = "1,2,3", sizes = "500x4,5000x20", sound = "" } = values;
  const texts = only.split(",");
  const isWanted = (text: string) => texts.some((wanted) => text.includes(wanted));
  const bugs = BUGS.filter(({ name, file }) => isWanted(name) || isWanted(file));
  if (bugs.length === 0) throw new Error(`no bug has "${only}" in its name or file`);
  return {
    ...{ bugs, attempts: readAttempts(seeds.split(","), sizes.split(",")), sound: sound.split(",") },
    run: (["kinds", "brokers"] as const).flatMap((name) =>
      values[name] === undefined ? [] : [`--${name}`, values[name]],
    ),
  };
}

function readAttempts([first, ...others]: string[], sizes: string[]): Attempt[] {
  const attempt = (seed: string, size: string): Attempt => {
    const [, operations, faults] = /^(\d+)x(\d+)$/.exec(size) ?? [];
    if (operations === undefined || faults === undefined)
      throw new Error(`--sizes has "${size}": a size is like 500x4.`);
    return { seed, operations, faults };
  };
  return [
    ...sizes.map((size) => attempt(first!, size)),
    ...others.map((seed) => attempt(seed, sizes.at(-1)!)),
  ];
}
