import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { stackFileIn } from "@wonrail/kit/localStack";
import { PartError } from "./parts/partError";

/** The folder of one stack: `<repository>/.wonrail`, or WONRAIL_HOME. */
export interface Home {
  dir: string;
  stackFile: string;
  /** The running launcher's process and address. Exists only while the stack runs. */
  launcherFile: string;
  /** The stack's processes, so that the next start can end those of a killed launcher. */
  processesFile: string;
  secretsDir: string;
  logsDir: string;
  part(name: "postgres" | "kafka" | "anvil"): string;
  log(name: string): string;
}

export function homeAt(dir: string): Home {
  const run = join(dir, "run");
  const logsDir = join(dir, "logs");
  return {
    dir,
    stackFile: stackFileIn(dir),
    launcherFile: join(run, "launcher.json"),
    processesFile: join(run, "processes.json"),
    secretsDir: join(dir, "secrets"),
    logsDir,
    part: (name) => join(dir, name),
    log: (name) => join(logsDir, `${name}.log`),
  };
}

/** Files of a stack, its benchmarks and its Prometheus. */
export const HOME_ENTRIES: readonly string[] = [
  "anvil",
  "bench",
  "kafka",
  "logs",
  "postgres",
  "prometheus",
  "run",
  "secrets",
  "stack.json",
];

/** WONRAIL_HOME may name any folder. A folder with foreign files is refused, unless a stack made its secrets there. */
export function isHome({ dir, secretsDir }: Pick<Home, "dir" | "secretsDir">): boolean {
  if (!existsSync(dir) || existsSync(join(secretsDir, "root"))) return true;
  return readdirSync(dir).every((name) => HOME_ENTRIES.includes(name));
}

export function makeHome(home: Home): void {
  if (!isHome(home))
    throw new PartError(
      "The stack cannot use its data folder",
      `${home.dir} holds other files; a stack would make them unreadable for others, and "make reset" could delete them`,
      `set WONRAIL_HOME to a new or empty folder, such as ${join(home.dir, "wonrail")}.`,
    );
  mkdirSync(home.dir, { recursive: true });
  // PostgreSQL may run as another user, which may enter this folder but not list it.
  chmodSync(home.dir, process.getuid?.() === 0 ? 0o711 : 0o700);
  for (const dir of [join(home.dir, "run"), home.secretsDir, home.logsDir])
    mkdirSync(dir, { recursive: true, mode: 0o700 });
}
