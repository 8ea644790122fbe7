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
export function failureSubjects(prefix: string, clientAddress: string): FailureSubject[] {
  return [
    { kind: "ADDRESS", name: networkOf(clientAddress) },
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

/** An IPv6 caller has at least a /64 to choose addresses from, so that is what counts; an IPv4 address counts as itself. */
export function networkOf(address: string): string {
  const mapped = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const plain = address.toLowerCase().replace(/%.*$/, "");
  if (!/^[0-9a-f:]{2,39}$/.test(plain)) return "unknown";
  const [before = "", after] = plain.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...Array<string>(zeros).fill("0"), ...tail].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}
