import { spawn, type ChildProcess } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { reportProcesses, type ProcessReport } from "@wonrail/local/commands/stack";
import { askLauncher, type Verb } from "@wonrail/local/control";
import { homeAt, type Home } from "@wonrail/local/home";
import { readLauncher, type Launcher } from "@wonrail/local/launcherFile";
import { isAlive, type KnownProcess } from "@wonrail/local/process/fingerprint";
import { readStackFile, type Stack } from "@wonrail/local/stackFile";
import { ROOT } from "../ops/repository";

const UP = join(ROOT, "deploy/local/bin/up.mjs");
const READY_MS = 400_000;
const NOTICED_MS = 30_000;
/** A broker alone takes up to two minutes on a busy machine. */
const BACK_MS = 240_000;

export interface StackOptions {
  /** Kept when given; otherwise a temporary folder that is deleted with the stack. */
  home?: string;
  bus?: "kafka" | "feed";
  /** The services talk by mutual TLS. */
  mtls?: true;
  /** A superuser's, of a PostgreSQL that the test runs itself. */
  postgresUrl?: string;
}

/** A test's own stack, started as a user starts one, in its own home. */
export interface TestStack {
  home: Home;
  /** The launcher's output so far. */
  output(): string;
  /** The current stack.json, because process ids change. */
  stack(): Stack;
  statuses(): Promise<ProcessReport[]>;
  /** Sends a command to the launcher, like `npm run stack`. */
  act(verb: Verb, name: string): Promise<void>;
  /** Kills one process by its id and returns the id. The state shows it as not running. */
  kill(name: string, signal?: NodeJS.Signals): Promise<number>;
  /** Waits until every process of the stack would take work. */
  untilReady(withinMs?: number): Promise<ProcessReport[]>;
  /** Every process of this stack, the launcher and its guard too, that is alive. */
  alive(): KnownProcess[];
  launcher: ChildProcess;
  /** Stops the launcher and returns its exit code. */
  stop(): Promise<number | null>;
}

export async function startStack({ home, bus, mtls, postgresUrl }: StackOptions = {}): Promise<TestStack> {
  const dir = home ?? temporaryHome();
  const env = postgresUrl === undefined ? {} : { WONRAIL_POSTGRES_URL: postgresUrl };
  const launcher = launch(dir, bus, mtls ? ["--mtls"] : [], env);
  const exited = new Promise<number | null>((resolve) => launcher.once("exit", resolve));
  let output = "";
  for (const stream of [launcher.stdout, launcher.stderr])
    stream?.on("data", (text: Buffer) => (output += text.toString()));
  await untilReadyOrGone(launcher, () => output);
  reportBackends(output);
  return controlsOf(
    homeAt(dir),
    launcher,
    () => output,
    async () => {
      launcher.kill("SIGTERM");
      const code = await exited;
      if (home === undefined) rmSync(dir, { recursive: true, force: true });
      return code;
    },
  );
}

/** Reports the parts in use to the test runner. */
function reportBackends(output: string): void {
  const file = process.env.WONRAIL_TEST_BACKENDS;
  if (file === undefined) return;
  for (const [, part, label] of output.matchAll(/^✔ (postgres|bus) +[\d.]+ s {2}(.*)$/gm)) {
    appendFileSync(file, `${part}: ${label?.replaceAll(/127\.0\.0\.1:\d+/g, "a port of its own")}\n`);
  }
}

/**
 * Starts a launcher and returns at once. It stops when its standard input closes, so a killed test
 * run leaves nothing.
 */
export function launch(
  dir: string,
  bus?: "kafka" | "feed",
  more: string[] = [],
  env: Record<string, string> = {},
): ChildProcess {
  const args = [UP, "--attached", ...(bus === undefined ? [] : ["--bus", bus]), ...more];
  return spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env, WONRAIL_HOME: dir, CI: "true" },
  });
}

/**
 * PostgreSQL may run as another user, which needs access. The name has a space, as real folders may
 * have.
 */
export function temporaryHome(): string {
  const dir = mkdtempSync(join(tmpdir(), "wonrail e2e-"));
  chmodSync(dir, 0o711);
  return dir;
}

function controlsOf(
  home: Home,
  launcher: ChildProcess,
  output: () => string,
  stop: TestStack["stop"],
): TestStack {
  const running = (): Launcher => readLauncher(home.launcherFile) ?? fail("The stack does not run.");
  const statuses = (): Promise<ProcessReport[]> => reportProcesses(running(), home.stackFile);
  const pidOf = async (name: string): Promise<number | undefined> =>
    ((await statuses()).find((report) => report.name === name) ?? fail(`There is no ${name}.`)).pid;
  return {
    home,
    output,
    launcher,
    stop,
    statuses,
    stack: () => readStackFile(home.stackFile) ?? fail("There is no stack.json."),
    act: (verb, name) => askLauncher(running(), "POST", `${verb}/${name}`),
    alive: () => knownProcesses(home).filter(isAlive),
    async kill(name, signal = "SIGKILL") {
      const pid = (await pidOf(name)) ?? fail(`${name} does not run.`);
      process.kill(pid, signal);
      if (signal !== "SIGKILL") return pid;
      for (const endMs = Date.now() + NOTICED_MS; (await pidOf(name)) === pid; await sleep(20))
        if (Date.now() > endMs) fail(`Nobody notices that ${name} is dead.`);
      return pid;
    },
    async untilReady(withinMs = BACK_MS) {
      const deadline = Date.now() + withinMs;
      for (;;) {
        const reports = await statuses();
        if (reports.every(({ ready }) => ready)) return reports;
        if (Date.now() > deadline)
          fail(`Not ready after ${withinMs} ms: ${JSON.stringify(reports)}\n${output()}`);
        await sleep(100);
      }
    },
  };
}

export function knownProcesses({
  processesFile,
  launcherFile,
}: Pick<Home, "processesFile" | "launcherFile">): KnownProcess[] {
  const read = (file: string): unknown =>
    existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  const launcher = read(launcherFile) as Launcher | undefined;
  const others = (read(processesFile) as KnownProcess[] | undefined) ?? [];
  return launcher ? [{ ...launcher, name: "launcher" }, ...others] : others;
}

async function untilReadyOrGone(launcher: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (!output().includes("Stop with Ctrl-C.")) {
    if (launcher.exitCode !== null || launcher.signalCode !== null || Date.now() > deadline) {
      launcher.kill("SIGKILL"); // Its guard ends the rest.
      fail(`The stack did not start:\n${output()}`);
    }
    await sleep(50);
  }
}

function fail(message: string): never {
  throw new Error(message);
}
