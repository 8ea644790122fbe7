export interface RunOptions {
  seed: number;
  /** The clients send at least so many operations. */
  operations: number;
  faults: number;
  /** Divides the length of each fault. */
  speed?: number;
  /** Only so many faults of the schedule, from its start. */
  prefix?: number;
  /** The clients go on until the time is over. */
  minutes?: number;
  /** Names of the kinds of faults. Default: all that the world can have. */
  kinds?: string[];
  /** Kafka brokers; 0 for a world without Kafka. */
  brokers: number;
  /** Three PostgreSQL servers under Patroni instead of one server. */
  ha?: boolean;
  clients?: number;
  /** The folder of the history and of the facts. */
  folder: string;
  report: (line: string) => void;
}

/** The command that repeats a run. */
export function commandOf(options: Omit<RunOptions, "folder" | "report">): string {
  const { seed, operations: ops, faults, kinds, brokers, clients, minutes, prefix, speed, ha } = options;
  const names = { seed, ops, faults, brokers, clients, minutes, speed, prefix, kinds: kinds?.join(",") };
  const parts = Object.entries(names).filter(([, value]) => value !== undefined);
  const flags = ha ? ["--ha"] : [];
  return ["npm run torture --", ...parts.map(([name, value]) => `--${name} ${value}`), ...flags].join(" ");
}
