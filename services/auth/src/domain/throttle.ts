/** A wrong credential, as a caller presented it. */
export interface FailedCredential {
  prefix: string;
  clientAddress: string;
}

/**
 * Number of wrong credentials per window that get WAUTH_001; later ones get RATE_001. A valid
 * credential always works.
 */
const FAILURES_ALLOWED = { KEY: 10, ADDRESS: 20 } as const;
const FAILURE_WINDOW_MS = 60_000;

export type SubjectKind = keyof typeof FAILURES_ALLOWED;

export interface FailureSubject {
  readonly kind: SubjectKind;
  readonly name: string;
}

export interface FailureCount extends FailureSubject {
  readonly failures: number;
  readonly windowEndsAt: Date;
}

/** The address and the key that a wrong credential counts against. */
export function failureSubjects(prefix: string, network: string): FailureSubject[] {
  return [
    { kind: "ADDRESS", name: network },
    { kind: "KEY", name: prefix },
  ];
}

/**
 * Judges wrong credentials in their order. `waitsMs` holds each caller's wait; 0 means not
 * throttled. A throttled caller adds no failure.
 */
export function judgeFailures(
  attempts: FailureSubject[][],
  counts: FailureCount[],
  now: Date,
): { waitsMs: number[]; added: FailureCount[] } {
  const running = new Map(counts.map((count) => [subjectKey(count), count]));
  const added = new Map<string, FailureCount>();
  const waitsMs = attempts.map((subjects) => {
    const before = throttledForMs(countsOf(subjects, running), now);
    if (before > 0) return before;
    for (const subject of subjects) {
      countOne(running, subject, now);
      countOne(added, subject, now);
    }
    return throttledForMs(countsOf(subjects, running), now);
  });
  return { waitsMs, added: [...added.values()] };
}

function countOne(counts: Map<string, FailureCount>, subject: FailureSubject, now: Date): void {
  const key = subjectKey(subject);
  const windowEndsAt = new Date(now.getTime() + FAILURE_WINDOW_MS);
  const count = counts.get(key) ?? { ...subject, failures: 0, windowEndsAt };
  counts.set(key, { ...count, failures: count.failures + 1 });
}

function countsOf(subjects: FailureSubject[], counts: Map<string, FailureCount>): FailureCount[] {
  return subjects.flatMap((subject) => counts.get(subjectKey(subject)) ?? []);
}

function subjectKey({ kind, name }: FailureSubject): string {
  return `${kind} ${name}`;
}

/** The time until the last full window ends; 0 when no window is full. */
function throttledForMs(counts: FailureCount[], now: Date): number {
  const waits = counts
    .filter((count) => count.failures > FAILURES_ALLOWED[count.kind])
    .map((count) => count.windowEndsAt.getTime() - now.getTime());
  return Math.max(0, ...waits);
}
