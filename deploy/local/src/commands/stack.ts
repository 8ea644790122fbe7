import { helpOf } from "../cli/localCommands";
import { readConfig } from "../config";
import { askLauncher, parseVerb } from "../control";
import { homeAt } from "../home";
import { readLauncher, type Launcher } from "../launcherFile";
import type { UnitStatus } from "../process/unit";
import { assertReady } from "../services";
import { readStackFile } from "../stackFile";

export interface ProcessReport extends UnitStatus {
  /** Whether it accepts work now: a service by /readyz, a part by its process. */
  ready: boolean;
}

export async function stack(args: string[]): Promise<number> {
  const [verb, name] = args;
  const home = homeAt(readConfig().home);
  if (verb === undefined || args.includes("--help")) {
    process.stdout.write(helpOf("stack"));
    return verb === undefined ? 64 : 0;
  }
  const launcher = readLauncher(home.launcherFile);
  if (!launcher) {
    process.stderr.write(`No stack is running in ${home.dir}.\n  Next: make up\n`);
    return 1;
  }
  try {
    if (verb === "status") print(await reportProcesses(launcher, home.stackFile), args.includes("--json"));
    else await askLauncher(launcher, "POST", `${parseVerb(verb)}/${encodeURIComponent(name ?? "")}`);
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
}

export async function reportProcesses(launcher: Launcher, stackFile: string): Promise<ProcessReport[]> {
  const statuses = await askLauncher<UnitStatus[]>(launcher, "GET", "status");
  const services = readStackFile(stackFile)?.services ?? {};
  return Promise.all(
    statuses.map(async (status) => {
      const entry = services[status.name];
      const answers =
        entry === undefined ||
        (await assertReady(entry.ops).then(
          () => true,
          () => false,
        ));
      return { ...status, ready: status.state === "ready" && answers };
    }),
  );
}

function print(reports: ProcessReport[], json: boolean): void {
  if (json) return void process.stdout.write(`${JSON.stringify(reports, undefined, 2)}\n`);
  for (const { name, state, pid, restarts, ready } of reports) {
    const health = state === "ready" && !ready ? "not ready" : state;
    const line = `${name.padEnd(14)} ${health.padEnd(11)} ${`${pid ?? "-"}`.padStart(8)}  restarts ${restarts}`;
    process.stdout.write(`${line}\n`);
  }
}
