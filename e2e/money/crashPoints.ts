import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PROCESSES, ROOT } from "../ops/repository";
import { readLaunch } from "../support/launched";
import { isReady } from "../support/replicas";
import { type TestStack } from "../support/startStack";

/** Steps of a command at which a process can die: around each call, each commit and the feed's numbers. */
export const CRASH_POINTS = [
  ["gateway", "gateway.calling"],
  ["gateway", "gateway.answered"],
  ["payment", "payment.posting"],
  ["payment", "payment.posted"],
  ["payment", "payment.projecting"],
  ["ledger", "ledger.before_commit"],
  ["ledger", "ledger.committed"],
  ["ledger", "outbox.stamping"],
  ["ledger", "outbox.stamped"],
] as const;

const PATIENCE_MS = 60_000;

/**
 * Arms a process to kill itself with SIGKILL at the point during the work, and restarts it. Returns
 * the work's outcome.
 */
export async function crashAt<T>(
  stack: TestStack,
  [name, point]: readonly [name: string, point: string],
  work: () => Promise<T>,
): Promise<T> {
  const armed = await startArmed(stack, name, point);
  const working = work();
  // Prevents an unhandled rejection until the result is awaited below.
  working.catch(() => undefined);
  try {
    await Promise.race([armed.ended, sleep(PATIENCE_MS, undefined, { ref: false })]);
    expect([point, armed.process.signalCode]).toEqual([point, "SIGKILL"]);
  } finally {
    armed.process.kill("SIGKILL");
    await stack.act("start", name);
  }
  return working;
}

/** Replaces the stack's process by one of the test's build. */
async function startArmed(
  stack: TestStack,
  name: string,
  point: string,
): Promise<{ process: ChildProcess; ended: Promise<unknown> }> {
  const { pid } = (await stack.statuses()).find((report) => report.name === name)!;
  const { command, args, env } = readLaunch(pid!);
  const { folder } = PROCESSES.find((each) => each.name === name)!;
  await stack.act("stop", name);
  const child = spawn(command, args, {
    cwd: join(ROOT, folder),
    env: { ...env, NODE_ENV: "reltest", FAILPOINTS: `${point}:kill` },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  const { ops } = stack.stack().services[name]!;
  for (const endMs = Date.now() + PATIENCE_MS; child.signalCode === null && !(await isReady(ops));) {
    if (Date.now() > endMs || child.exitCode !== null) throw new Error(`${name} did not start for ${point}`);
    await sleep(50);
  }
  return { process: child, ended };
}
