import { type InvariantFigures, type SlitherFigures, type SymbolicFigures } from "./contracts";
import { type TortureRun } from "./summariseTorture";
import { type FuzzFigures } from "../fuzz/figures";

export interface TortureFigures {
  runs: TortureRun[];
}

/** Rehearsals of a restore of all databases to a moment before the disaster. */
export interface RestoreFigures {
  withKafka: RehearsalFigures;
  withoutKafka: RehearsalFigures;
}

export interface RehearsalFigures {
  /** From the restore point to the disaster. */
  lostSeconds: number;
  /** Settled orders after the restore point. */
  lostOrders: number;
  /** Lost orders that the commands entered again. */
  enteredAgain: number;
  /** From the stop of the services to the resumed settlement. */
  rtoSeconds: number;
}

/** The figures by the name of their file. */
export interface Figures {
  torture: TortureFigures;
  restore: RestoreFigures;
  fuzz: FuzzFigures;
  invariants: InvariantFigures;
  symbolic: SymbolicFigures;
  slither: SlitherFigures;
}
