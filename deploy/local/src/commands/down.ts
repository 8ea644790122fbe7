import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { readConfig } from "../config";
import { askLauncher } from "../control";
import { homeAt } from "../home";
import { clearLeftovers } from "../launcher";
import { readLauncher, type Launcher } from "../launcherFile";
import { isAlive } from "../process/fingerprint";

const PATIENCE_MS = 60_000;
const ANSWER_MS = 5_000;

/** Stops the running stack from another terminal, and ends processes of a killed one. */
export async function down(args: string[]): Promise<number> {
  parseArgs({ args }); // Refuses options such as --help, which must not stop the stack.
  const home = homeAt(readConfig().home);
  const launcher = readLauncher(home.launcherFile);
  if (launcher) await endLauncher(launcher);
  await clearLeftovers(home, { note: say });
  say(
    launcher
      ? "The stack is stopped. Its data stays; `make up` starts it again."
      : `No stack is running in ${home.dir}.`,
  );
  return 0;
}

export async function endLauncher(launcher: Launcher, answerMs = ANSWER_MS): Promise<void> {
  try {
    await askLauncher(launcher, "POST", "shutdown", AbortSignal.timeout(answerMs));
  } catch {
    signalTo(launcher, "SIGTERM"); // The launcher is still starting, or hangs.
  }
  const deadline = Date.now() + PATIENCE_MS;
  while (isAlive(launcher) && Date.now() < deadline) await sleep(50);
  signalTo(launcher, "SIGKILL"); // Its guard ends the rest.
}

/** After its end the process id may belong to another process. */
function signalTo(launcher: Launcher, signal: NodeJS.Signals): void {
  if (isAlive(launcher)) process.kill(launcher.pid, signal);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
