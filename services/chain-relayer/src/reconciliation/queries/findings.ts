import { type DriftPlace, type NewDrift, placeKey } from "../store/drifts";

/** What a comparison has found. */
export interface Findings {
  drifts: NewDrift[];
  /** Where the books differed before and agree now. */
  mended: DriftPlace[];
  /** Where they differed before, by key: of the many places that agree nothing else is kept. */
  doubted: ReadonlySet<string>;
}

export function createFindings(doubted: ReadonlySet<string>): Findings {
  return { drifts: [], mended: [], doubted };
}

export function judge({ drifts, mended, doubted }: Findings, one: NewDrift): void {
  if (one.actual !== one.expected) drifts.push(one);
  else if (doubted.has(placeKey(one))) mended.push(one);
}
