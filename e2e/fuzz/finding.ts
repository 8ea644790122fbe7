/** An answer that the contract does not allow, with the request that got it. */
export interface Finding {
  problem: string;
  request: string;
}

const MAX_REQUEST_LENGTH = 2_000;
const MAX_KEPT = 200;

/** Counts answers by status, and keeps the first findings. */
export interface Tally {
  cases: number;
  answers: Record<string, number>;
  /** Answers that tell of a fault of ours: 5xx, INTERNAL, UNKNOWN, and calls without an answer. */
  serverErrors: number;
  /** Answers that the contract does not document. */
  undocumented: number;
  findings: Finding[];
}

export function newTally(): Tally {
  return { cases: 0, answers: {}, serverErrors: 0, undocumented: 0, findings: [] };
}

export function countAnswer(tally: Tally, status: string): void {
  tally.cases += 1;
  tally.answers[status] = (tally.answers[status] ?? 0) + 1;
}

export function addFinding(
  tally: Tally,
  kind: "serverErrors" | "undocumented",
  { problem, request }: Finding,
): void {
  tally[kind] += 1;
  if (tally.findings.length < MAX_KEPT)
    tally.findings.push({ problem, request: request.slice(0, MAX_REQUEST_LENGTH) });
}
