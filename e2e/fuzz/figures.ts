import { type Tally } from "./finding";
import { type PairFigures } from "./runPairs";
import { type SchemathesisFigures } from "./schemathesis";

/** The figures of a run, by part. Absent: the part was left out. */
export interface FuzzFigures {
  seed: number;
  rest?: TallyFigures;
  grpc?: TallyFigures;
  schemathesis?: SchemathesisFigures | { skipped: string };
  pairs?: Omit<PairFigures, "leaks"> & { leaks: number };
  /** The output of `wonrail verify` afterwards. */
  ledger: string;
}

export type TallyFigures = Omit<Tally, "findings">;
