import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { groupBy } from "@wonrail/kit/groupBy";
import { pick } from "@wonrail/kit/testing/random";
import { type World } from "../../world/openWorld";
import { type Replica } from "../../world/replica";
import { clockFileOf } from "../../world/services";
import { type Fault } from "../fault";

/** Faults of the services' processes. */
export const PROCESS_FAULTS: readonly Fault[] = [
  {
    name: "service-killed",
    holdMs: [500, 6_000],
    async begin(world, random) {
      const replica = takeReplica(world, random);
      await replica.kill();
      return { detail: replica.name, end: async () => giveBack(replica) };
    },
  },
  {
    name: "service-paused",
    holdMs: [2_000, 12_000],
    async begin(world, random) {
      const replica = takeReplica(world, random);
      replica.signal("SIGSTOP");
      return {
        detail: replica.name,
        async end() {
          replica.signal("SIGCONT");
          replica.isTaken = false;
        },
      };
    },
  },
  {
    name: "service-pair-killed",
    holdMs: [500, 4_000],
    isSlowToHeal: true,
    async begin({ replicas }, random) {
      const free = replicas.filter(({ isTaken }) => !isTaken);
      const { service } = pick(random, free);
      const pair = free.filter((replica) => replica.service === service);
      for (const replica of pair) replica.isTaken = true;
      await Promise.all(pair.map((replica) => replica.kill()));
      return { detail: pair.map(({ name }) => name).join(", "), end: async () => pair.forEach(giveBack) };
    },
  },
  {
    name: "rolling-restart",
    holdMs: [0, 0],
    async begin({ replicas }) {
      const services = [...groupBy(replicas, ({ service }) => service).values()];
      const restarting = Promise.all(services.map(restartInTurn));
      restarting.catch(() => undefined);
      return { detail: "all services at once, each one replica after the other", end: () => restarting };
    },
  },
  {
    name: "clock-stepped",
    holdMs: [3_000, 8_000],
    async begin(world, random) {
      const replica = takeReplica(world, random);
      const offsetMs = Math.round((2 * random() - 1) * MOST_OFFSET_MS);
      const file = clockFileOf(world.home, replica.name);
      writeFileSync(file, String(offsetMs));
      return {
        detail: `${replica.name} by ${offsetMs} ms`,
        async end() {
          rmSync(file);
          replica.isTaken = false;
        },
      };
    },
  },
  {
    name: "memory-pressure",
    holdMs: [3_000, 6_000],
    isPossible: () => HAS_PRLIMIT,
    async begin(world, random) {
      const replica = takeReplica(world, random);
      const pid = replica.pid()!;
      await limitMemory(pid, String(memoryOf(pid) + ROOM_BYTES));
      return {
        detail: `${replica.name} gets ${ROOM_BYTES / 1_048_576} MB more at most`,
        async end() {
          // If the limit ended the process, its successor has no limit.
          if (replica.pid() === pid) await limitMemory(pid, "unlimited");
          replica.isTaken = false;
        },
      };
    },
  },
];

/** Receivers refuse webhooks whose time is off by five minutes. */
const MOST_OFFSET_MS = 120_000;
const ROOM_BYTES = 4 * 1_048_576;
const HAS_PRLIMIT = existsSync("/usr/bin/prlimit") && existsSync("/proc/self/status");

/** Sets the soft limit of the process's address space. */
async function limitMemory(pid: number, bytes: string): Promise<void> {
  await promisify(execFile)("/usr/bin/prlimit", ["--pid", String(pid), `--as=${bytes}:`]);
}

/** The present size of its address space. */
function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kilobytes) * 1_024;
}

function takeReplica({ replicas }: World, random: () => number): Replica {
  const free = replicas.filter(({ isTaken, pid }) => !isTaken && pid() !== undefined);
  if (free.length === 0) throw new Error("other faults have all replicas");
  const replica = pick(random, free);
  replica.isTaken = true;
  return replica;
}

/** As a deployment rolls: the next replica follows when the successor of the last one is ready. */
async function restartInTurn(replicas: Replica[]): Promise<void> {
  for (const replica of replicas) {
    if (replica.isTaken) continue;
    replica.isTaken = true;
    await replica.stop();
    giveBack(replica);
    await replica.untilReady();
  }
}

function giveBack(replica: Replica): void {
  replica.start();
  replica.isTaken = false;
}
