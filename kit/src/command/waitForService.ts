import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "./runCommands";

/** How long a command waits for the service's work. */
export const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 100;

/**
 * Waits until the service has executed a stored request. On timeout the service continues without
 * the command.
 */
export async function waitForService<T extends object | string>(
  look: () => Promise<T | null>,
  { patienceMs, what, job }: { patienceMs: number; what: string; job: string },
): Promise<T> {
  for (const untilMs = performance.now() + patienceMs; ; await sleep(LOOK_EVERY_MS)) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() >= untilMs)
      throw new Refusal(
        `${what} yet. The request is stored, and the service continues with it: see its log, job ${job}.`,
      );
  }
}
