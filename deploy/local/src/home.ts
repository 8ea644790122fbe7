import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** Where everything of one stack is: `<repository>/.wonrail`, or WONRAIL_HOME. */
export interface Home {
  dir: string;
  stackFile: string;
  /** Who runs this stack and how to reach it; there only while it runs. */
  launcherFile: string;
  /** The processes of the stack, for the next start to find what a killed launcher left. */
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
    stackFile: join(dir, "stack.json"),
    launcherFile: join(run, "launcher.json"),
    processesFile: join(run, "processes.json"),
    secretsDir: join(dir, "secrets"),
    logsDir,
    part: (name) => join(dir, name),
    log: (name) => join(logsDir, `${name}.log`),
  };
}

export function makeHome(home: Home): void {
  mkdirSync(home.dir, { recursive: true });
  // PostgreSQL may run as another user, who has to pass; it can list nothing.
  chmodSync(home.dir, process.getuid?.() === 0 ? 0o711 : 0o700);
  for (const dir of [join(home.dir, "run"), home.secretsDir, home.logsDir])
    mkdirSync(dir, { recursive: true, mode: 0o700 });
}
