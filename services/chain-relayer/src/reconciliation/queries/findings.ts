import { type DriftPlace, type NewDrift, placeKey } from "../store/drifts";

/** Result of a comparison. */
export interface Findings {
  drifts: NewDrift[];
  /** Places whose earlier difference is gone. */
  resolved: DriftPlace[];
  /** Keys of places with an open drift, because agreeing places are too many to keep. */
  openDrifts: ReadonlySet<string>;
}

export function createFindings(openDrifts: ReadonlySet<string>): Findings {
  return { drifts: [], resolved: [], openDrifts };
}

export function addComparison({ drifts, resolved, openDrifts }: Findings, one: NewDrift): void {
  if (one.actual !== one.expected) drifts.push(one);
  else if (openDrifts.has(placeKey(one))) resolved.push(one);
}
