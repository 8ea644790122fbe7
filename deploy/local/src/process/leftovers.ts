import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, type KnownProcess } from "./fingerprint";
import { signalGroup } from "./ownedProcess";

const GRACE_MS = 10_000;
const KILL_MS = 5_000;
const POLL_MS = 50;

/**
 * Ends processes of a killed launcher and returns their names. Processes that only share the number
 * are left alone.
 */
export async function endLeftovers(known: readonly KnownProcess[]): Promise<string[]> {
  const alive = known.filter(isAlive).reverse();
  for (const { pid } of alive) signalGroup(pid, "SIGTERM");
  // PostgreSQL takes SIGTERM as "wait for the sessions to end"; SIGINT ends them.
  for (const { name, pid } of alive) if (name === "postgres") signalGroup(pid, "SIGINT");
  await untilGone(alive, GRACE_MS);
  for (const { pid } of alive.filter(isAlive)) signalGroup(pid, "SIGKILL");
  await untilGone(alive, KILL_MS);
  return alive.map(({ name }) => name);
}

async function untilGone(processes: readonly KnownProcess[], withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (processes.some(isAlive) && Date.now() < deadline) await sleep(POLL_MS);
}
