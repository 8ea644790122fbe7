import { type DriftPlace, type NewDrift, placeKey } from "../store/drifts";

/** What a comparison has found. */
export interface Findings {
  drifts: NewDrift[];
  /** Where the books differed before and agree now. */
  resolved: DriftPlace[];
  /** Where they differed before, by key: of the many places that agree nothing else is kept. */
  openDrifts: ReadonlySet<string>;
}

export function createFindings(openDrifts: ReadonlySet<string>): Findings {
  return { drifts: [], resolved: [], openDrifts };
}

export function judge({ drifts, resolved, openDrifts }: Findings, one: NewDrift): void {
  if (one.actual !== one.expected) drifts.push(one);
  else if (openDrifts.has(placeKey(one))) resolved.push(one);
}
