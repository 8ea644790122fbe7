import { parseArgs } from "node:util";
import { helpOf } from "../cli/localCommands";
import { createChecklist, seconds, type Checklist } from "../checklist";
import { parseBus, readConfig, type LocalConfig } from "../config";
import { newConsoleLink } from "../consoleLink";
import { homeAt } from "../home";
import { LockHeld } from "../process/lockFile";
import { runLauncher } from "../launcher";
import { PartError } from "../parts/partError";
import { readySummary } from "../readySummary";

/** Durations of the steps before this file could be loaded: installing and building. */
export interface Preparation {
  installMs: number;
  buildMs: number;
}

const EXIT = { done: 0, failed: 1, alreadyRunning: 2, usage: 64 };

export async function up(args: string[], preparation: Preparation): Promise<number> {
  const startedAt = Date.now();
  const options = readOptions(args);
  if (typeof options === "number") return options;
  const { config, attached } = options;
  const home = homeAt(config.home);
  const checklist = terminalChecklist(config);
  const stop = new AbortController();
  listenForStop(stop, checklist, attached);
  try {
    await runLauncher({
      config,
      home,
      checklist,
      stop,
      onReady: async (stack) => {
        const consoleLink = await newConsoleLink(home);
        const times = { ...preparation, startMs: Date.now() - startedAt };
        process.stdout.write(readySummary({ stack, home, consoleLink }, times));
      },
    });
    return EXIT.done;
  } catch (error) {
    if (stop.signal.aborted) return EXIT.done;
    if (error instanceof LockHeld) {
      process.stderr.write(
        `A stack is running already: ${error.message}.\n  Next: use it (${home.stackFile}), or end it with \`make down\`.\n`,
      );
      return EXIT.alreadyRunning;
    }
    process.stderr.write(
      `\n${error instanceof PartError ? error.message : String((error as Error).stack)}\n`,
    );
    return EXIT.failed;
  } finally {
    if (stop.signal.aborted) checklist.note(`Stopped. ${seconds(Date.now() - startedAt)} in all.`);
  }
}

function readOptions(args: string[]): { config: LocalConfig; attached: boolean } | number {
  try {
    const { values } = parseArgs({
      args,
      options: {
        bus: { type: "string" },
        mtls: { type: "boolean" },
        attached: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help) {
      process.stdout.write(helpOf("up"));
      return EXIT.done;
    }
    const config = readConfig();
    if (values.bus !== undefined) config.bus = parseBus(values.bus);
    if (values.mtls) config.mtls = true;
    return { config, attached: values.attached === true };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${helpOf("up")}`);
    return EXIT.usage;
  }
}

function terminalChecklist({ color, animate }: LocalConfig): Checklist {
  const terminal = process.stdout.isTTY;
  const write = (text: string): void => void process.stdout.write(text);
  return createChecklist({ write, live: terminal && animate, color: terminal && color, now: Date.now });
}

/**
 * A second signal this soon belongs to the same Ctrl-C: the terminal signals all processes, and npm
 * forwards it.
 */
const SAME_SIGNAL_MS = 1_000;

/** The first signal stops all processes in order. After a second signal the guard kills the rest at once. */
function listenForStop(stop: AbortController, checklist: Checklist, attached: boolean): void {
  let askedMs: number | undefined;
  const ask = (): void => {
    const nowMs = performance.now();
    if (askedMs !== undefined && nowMs - askedMs > SAME_SIGNAL_MS) process.exit(EXIT.failed);
    if (askedMs !== undefined) return;
    askedMs = nowMs;
    checklist.note("\nStopping…");
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, ask);
  if (attached) process.stdin.resume().once("close", ask);
  // A closed terminal must not interrupt the orderly stop.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}
