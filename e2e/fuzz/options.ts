import { parseArgs } from "node:util";

export const PARTS = ["pairs", "rest", "schemathesis", "grpc"] as const;
export type Part = (typeof PARTS)[number];

export interface FuzzOptions {
  cases: number;
  pairs: number;
  seed: number;
  minutes: number;
  parts: readonly Part[];
  /** Take the running stack of WONRAIL_HOME instead of a new one. */
  running: boolean;
  /** Write the figures for docs/evidence. */
  store: boolean;
}

export const USAGE = `npm run fuzz -- [options]

  --cases N      requests of our own generators; REST gets 55 % of them, gRPC the rest (default: 20000)
  --pairs N      requests with another organisation's id (default: 2000)
  --seed N       the seed (default: from the clock)
  --minutes M    no request begins after this time (default: 60)
  --only a,b     only these parts: ${PARTS.join(", ")}
  --running      use the running stack (make up, with WONRAIL_MTLS=true for gRPC as each caller)
  --store        write the figures to docs/evidence/results

The run fails when an answer is a fault of ours, is not documented, or tells of another organisation.
`;

/** Reads the command line. */
export function readFuzzOptions(args: string[], nowMs: number): FuzzOptions {
  const text = { type: "string" as const };
  const flag = { type: "boolean" as const };
  const options = {
    cases: text,
    pairs: text,
    seed: text,
    minutes: text,
    only: text,
    running: flag,
    store: flag,
  };
  const { values } = parseArgs({ args, options });
  return {
    cases: readNumber("cases", values.cases ?? "20000"),
    pairs: readNumber("pairs", values.pairs ?? "2000"),
    seed: readNumber("seed", values.seed ?? String(nowMs % 1_000_000)),
    minutes: readNumber("minutes", values.minutes ?? "60"),
    parts: values.only?.split(",").map(readPart) ?? PARTS,
    running: values.running ?? false,
    store: values.store ?? false,
  };
}

function readPart(name: string): Part {
  const part = PARTS.find((one) => one === name);
  if (part) return part;
  throw new Error(`--only is "${name}": it takes ${PARTS.join(", ")}.`);
}

function readNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} is "${text}": it takes a whole number.`);
}
