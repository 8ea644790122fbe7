import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { inheritedEnv, REPOSITORY } from "../config";
import { PartError } from "../parts/partError";

const SCRIPT = join(REPOSITORY, "deploy/ha/machines.sh");
const ATTEMPTS = 20;
/** A third number of an IPv4 address. */
const NETWORKS = 250;

/** A network namespace with a disk in memory, which stands for a machine. */
export interface Machine {
  host: string;
  /** The folder of its disk. */
  disk: string;
  /** The start of a command line that runs a program there. */
  enter: string[];
  pids(): number[];
  signal(signal: NodeJS.Signals): void;
  /** Pulls the machine's network cable. */
  cut(): void;
  join(): void;
}

export interface Machines {
  /** The first three numbers of all addresses. */
  network: string;
  /** This machine's address in the network. */
  host: string;
  all: Machine[];
  /** Kills every process of the machines, and removes them with their disks. */
  close(): Promise<void>;
}

/** Makes the machines below the folder, which goes with them. They end with this process. */
export async function startMachines(folder: string, diskMb: number): Promise<Machines> {
  let problem = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const number = 1 + Math.floor(Math.random() * NETWORKS);
    const [name, network] = [`wha${number}`, `10.213.${number}`];
    const script = spawn("/bin/sh", [SCRIPT, name, network, folder, String(diskMb)], {
      ...{ stdio: ["pipe", "pipe", "pipe"], detached: true, cwd: "/", env: inheritedEnv() },
    });
    const ready = await firstWords(script);
    if (ready.includes("ready")) return describeMachines(script, { name, network, folder });
    problem = ready;
    // Another set has the name.
    if (!/exists/.test(problem)) break;
  }
  const next = "run it as root of a machine that may make network namespaces (ip netns add x).";
  throw new PartError("the machines of the set cannot be made", problem, next);
}

/** `ready`, or the script's error. */
async function firstWords(script: ChildProcess): Promise<string> {
  let text = "";
  for (const stream of [script.stdout!, script.stderr!])
    stream.setEncoding("utf8").on("data", (words: string) => void (text += words));
  await Promise.race([once(script, "close"), once(script.stdout!, "data")]);
  return text;
}

function describeMachines(
  script: ChildProcess,
  { name, network, folder }: { name: string; network: string; folder: string },
): Machines {
  script.unref();
  script.stdin!.on("error", () => undefined);
  return {
    network,
    host: `${network}.254`,
    all: [1, 2, 3].map((number) =>
      describeMachine(`${name}-${number}`, `${network}.${number}`, join(folder, String(number))),
    ),
    async close() {
      const ended = once(script, "close");
      script.stdin!.end();
      await ended;
    },
  };
}

function describeMachine(name: string, host: string, disk: string): Machine {
  const pids = (): number[] => {
    const { stdout } = spawnSync("ip", ["netns", "pids", name], { encoding: "utf8" });
    return stdout.split("\n").filter(Boolean).map(Number);
  };
  const setLink = (state: "up" | "down"): void =>
    void execFileSync("ip", ["link", "set", name, state], { stdio: "pipe" });
  return {
    ...{ host, disk, pids },
    enter: ["nsenter", `--net=/run/netns/${name}`],
    signal(signal) {
      for (const pid of pids()) kill(pid, signal);
    },
    cut: () => setLink("down"),
    join: () => setLink("up"),
  };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}
