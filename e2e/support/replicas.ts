import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { type Server, type Socket, connect, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { PROCESSES, ROOT } from "../ops/repository";
import { type TestStack } from "./startStack";

/**
 * Loopback addresses that stand for machines. Each replica uses its service's ports on one of them.
 */
const MACHINES = ["127.0.0.1", "127.0.0.2"] as const;
export type Machine = (typeof MACHINES)[number];
const READY_MS = 120_000;
const MAX_STARTS = 3;
/**
 * Like the chart's preStop hook: time for balancers to notice, and for callers to find the previous
 * successor, which they try every 2 s.
 */
const SETTLE_MS = 5_000;
const LOOK_EVERY_MS = 200;
export const GRACE_MS = 20_000;

export interface Replica {
  name: string;
  machine: Machine;
  process: ChildProcess;
  ops: string;
}

export interface LogLine {
  service: string;
  level: string;
  msg: string;
  requestId?: string;
  traceId?: string;
}

/** Two replicas of each of the six, in place of the stack's own. */
export interface Replicas {
  readonly all: readonly Replica[];
  /** Every line that any of them has logged. */
  lines(): LogLine[];
  /** Ends a replica with SIGTERM and starts its successor in its place. */
  replace(replica: Replica): Promise<{ drainMs: number; code: number | null; successor: Replica }>;
  stop(): Promise<void>;
}

export async function startReplicas(stack: TestStack): Promise<Replicas> {
  const environments = new Map<string, Record<string, string>>();
  for (const { name, pid } of await stack.statuses()) {
    if (PROCESSES.some((each) => each.name === name)) environments.set(name, environmentOf(pid!));
  }
  for (const { name } of PROCESSES) await stack.act("stop", name);

  const logFile = join(stack.home.dir, "replicas.log");
  const running = new Set<ChildProcess>();
  const start = (name: string, machine: Machine): Promise<Replica> =>
    startReady({ name, machine, env: environments.get(name)!, logFile }, running);
  const stop = async (): Promise<void> => {
    for (const process of running) process.kill("SIGKILL");
    await Promise.all([...running].map(exitOf));
  };
  const places = PROCESSES.flatMap(({ name }) => MACHINES.map((machine) => ({ name, machine })));
  const started = await Promise.allSettled(places.map(({ name, machine }) => start(name, machine)));
  const failed = started.find((one) => one.status === "rejected");
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const all = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  return {
    all,
    lines: () =>
      readFileSync(logFile, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as LogLine),
    async replace(replica) {
      const startedAt = performance.now();
      replica.process.kill("SIGTERM");
      const code = await exitOf(replica.process);
      const drainMs = Math.round(performance.now() - startedAt);
      const successor = await start(replica.name, replica.machine);
      all[all.indexOf(replica)] = successor;
      return { drainMs, code, successor };
    },
    stop,
  };
}

/**
 * Restarts a replica whose start failed, for example by a timeout of its database on a busy
 * machine.
 */
async function startReady(options: ReplicaOptions, running: Set<ChildProcess>): Promise<Replica> {
  for (let starts = 1; ; starts += 1) {
    const replica = startReplica(options);
    running.add(replica.process);
    replica.process.once("exit", () => running.delete(replica.process));
    try {
      await untilReady(replica, options.logFile);
      return replica;
    } catch (error) {
      if (replica.process.exitCode === null || starts === MAX_STARTS) throw error;
    }
  }
}

interface ReplicaOptions {
  name: string;
  machine: Machine;
  env: Record<string, string>;
  logFile: string;
}

function startReplica({ name, machine, env, logFile }: ReplicaOptions): Replica {
  const { folder } = PROCESSES.find((each) => each.name === name)!;
  const addresses = Object.entries(env)
    .filter(([key]) => /^(AUTH|WALLET|LEDGER|PAYMENT|RELAYER)_ADDRESS$/.test(key))
    .map(([key, address]) => [key, `${key.split("_")[0]!.toLowerCase()}:${address.split(":").at(-1)!}`]);
  const names = addresses.map(([, address]) => [address!.split(":")[0], MACHINES]);
  const child = spawn(process.execPath, ["--require", join(__dirname, NAMES), "dist/main.js"], {
    cwd: join(ROOT, folder),
    env: {
      ...env,
      ...(Object.fromEntries(addresses) as Record<string, string>),
      CLUSTER_NAMES: JSON.stringify(Object.fromEntries(names)),
      GRPC_HOST: machine,
      HTTP_HOST: machine,
      OPS_HOST: machine,
      LOG_LEVEL: "debug",
      SHUTDOWN_GRACE_MS: String(GRACE_MS),
      SHUTDOWN_SETTLE_MS: String(SETTLE_MS),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => appendFileSync(logFile, `${line}\n`));
  return { name, machine, process: child, ops: `${machine}:${env.OPS_PORT}` };
}

/** Equal for sources and compiled files. */
const NAMES = __dirname.includes("/dist/") ? "../../support/clusterNames.js" : "clusterNames.js";

function environmentOf(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
  return Object.fromEntries(
    entries.map((entry) => [entry.split("=", 1)[0]!, entry.slice(entry.indexOf("=") + 1)]),
  );
}

export async function isReady(ops: string): Promise<boolean> {
  return fetch(`http://${ops}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function untilReady({ name, ops, process }: Replica, logFile: string): Promise<void> {
  for (const endMs = Date.now() + READY_MS; Date.now() < endMs && process.exitCode === null; await sleep(100))
    if (await isReady(ops)) return;
  throw new Error(
    `${name} at ${ops} is not ready; its log ends: ${readFileSync(logFile, "utf8").slice(-2_000)}`,
  );
}

function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", resolve));
}

/**
 * A small balancer: distributes connections over the ready gateways, or over all while none is
 * ready.
 */
export async function startBalancer(
  targets: { host: string; port: number; ops: string }[],
): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>();
  const unready = new Set<string>();
  let turn = 0;
  let closed = false;
  // Each gateway is checked separately and sequentially: a slow answer delays no other, and no old
  // answer follows a new one.
  const look = async (ops: string): Promise<void> => {
    for (; !closed; await sleep(LOOK_EVERY_MS))
      if (await isReady(ops)) unready.delete(ops);
      else unready.add(ops);
  };
  for (const { ops } of targets) void look(ops);
  const server: Server = createServer((client) => {
    const ready = targets.filter(({ ops }) => !unready.has(ops));
    const among = ready.length > 0 ? ready : targets;
    const target = among[(turn += 1) % among.length]!;
    const upstream = connect(target.port, target.host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.once("error", () => to.destroy());
      from.once("close", () => sockets.delete(from));
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    close() {
      closed = true;
      server.close();
      sockets.forEach((socket) => socket.destroy());
    },
  };
}
