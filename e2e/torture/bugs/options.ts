import { parseArgs } from "node:util";
import { BUGS, type PlantedBug } from "./bugs";

export interface HuntOptions {
  bugs: PlantedBug[];
  seeds: string[];
  /** Seeds that are known to pass without a bug. */
  sound: string[];
  /** Options of each run. */
  run: string[];
}

export const USAGE = `npm run torture:bugs -- [options]

  --only a,b     only bugs whose name or file contains one of the texts
  --seeds a,b    the seeds, tried one after the other (default: 1,2,3)
  --sound a,b    seeds that passed without a bug before; each other seed first runs without one
  --ops N        operations of a run (default: 5000)
  --faults N     faults of a run (default: 20)
  --brokers N    Kafka brokers (default: 1 where Java is found)
`;

export function readHuntOptions(args: string[]): HuntOptions {
  const text = { type: "string" as const };
  const { values } = parseArgs({
    args,
    options: { only: text, seeds: text, sound: text, ops: text, faults: text, brokers: text },
  });
  const { only = "", seeds = "1,2,3", sound = "", ops = "5000", faults = "20", brokers } = values;
  const texts = only.split(",");
  const isWanted = (text: string) => texts.some((wanted) => text.includes(wanted));
  const bugs = BUGS.filter(({ name, file }) => isWanted(name) || isWanted(file));
  if (bugs.length === 0) throw new Error(`no bug has "${only}" in its name or file`);
  const ofBrokers = brokers === undefined ? [] : ["--brokers", brokers];
  return {
    ...{ bugs, seeds: seeds.split(","), sound: sound.split(",") },
    run: ["--ops", ops, "--faults", faults, ...ofBrokers],
  };
}
