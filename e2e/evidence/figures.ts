import { type InvariantFigures, type SlitherFigures, type SymbolicFigures } from "./contracts";
import { type TortureRun } from "./summariseTorture";
import { type FuzzFigures } from "../fuzz/figures";

export interface TortureFigures {
  runs: TortureRun[];
}

/** Results of `npm run torture:bugs`. */
export interface BugFigures {
  planted: number;
  found: number;
  missed: string[];
}

/** The rehearsal of a restore writes docs/evidence/results/restore.json. */
export interface RestoreFigures {
  /** The time before the disaster whose writes are lost. */
  rpoSeconds: number;
  /** From the disaster to the first accepted payment. */
  rtoSeconds: number;
}

/** The figures by the name of their file. */
export interface Figures {
  torture: TortureFigures;
  bugs: BugFigures;
  restore: RestoreFigures;
  fuzz: FuzzFigures;
  invariants: InvariantFigures;
  symbolic: SymbolicFigures;
  slither: SlitherFigures;
}
