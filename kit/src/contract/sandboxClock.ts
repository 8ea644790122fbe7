// The test clock of an organisation in the sandbox. Rows keep the real time. Only decisions about
// days, periods and schedules add the clock's offset.

/** No clock is further ahead: ten years. */
export const MAX_CLOCK_OFFSET_MS = 10 * 365 * 86_400_000;

/** How far an organisation's clock is ahead of the real time. */
export interface SandboxClock {
  orgId: string;
  offsetMs: number;
}

/** From `atMs` on the clock is ahead of the real time by `offsetMs`. */
export interface Advance {
  atMs: number;
  offsetMs: number;
}

/** By organisation, oldest first. An organisation without a clock is absent. */
export type SandboxClocks = ReadonlyMap<string, readonly Advance[]>;

export const NO_CLOCKS: SandboxClocks = new Map();

/** The clock's time at a real time. */
export function clockTimeMs(clocks: SandboxClocks, orgId: string, realMs: number): number {
  const advance = clocks.get(orgId)?.findLast(({ atMs }) => atMs <= realMs);
  return realMs + (advance?.offsetMs ?? 0);
}
