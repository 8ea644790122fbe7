/** Wrong secrets are answered with WAUTH_001 this often in a window, and with RATE_001 after that. The right one always works. */
const FAILURES_ALLOWED = { KEY: 10, ADDRESS: 20 } as const;
export const FAILURE_WINDOW_MS = 60_000;

export type SubjectKind = keyof typeof FAILURES_ALLOWED;

export interface FailureSubject {
  readonly kind: SubjectKind;
  readonly name: string;
}

export interface FailureCount extends FailureSubject {
  readonly failures: number;
  readonly windowEndsAt: Date;
}

/** What a wrong secret is counted against, in the order in which the rows are locked. */
export function failureSubjects(prefix: string, network: string): FailureSubject[] {
  return [
    { kind: "ADDRESS", name: network },
    { kind: "KEY", name: prefix },
  ];
}

/** How long the caller has to wait when it has shown too many wrong secrets; 0 when it has not. */
export function throttledForMs(counts: FailureCount[], now: Date): number {
  const waits = counts
    .filter((count) => count.failures > FAILURES_ALLOWED[count.kind])
    .map((count) => count.windowEndsAt.getTime() - now.getTime());
  return Math.max(0, ...waits);
}
