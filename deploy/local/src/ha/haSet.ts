import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { inheritedEnv, REPOSITORY } from "../config";
import type { SystemUser } from "../parts/postgresBinaries";
import { postgresUser } from "../parts/postgresUser";
import { randomFreePort } from "../process/freePort";
import type { Guard } from "../process/guard";
import { type OwnedProcess, type ProcessSpec, spawnProcess, startProcess } from "../process/ownedProcess";
import { runCommand } from "../process/runCommand";
import { createEtcd, type Etcd } from "./etcd";
import { type Machine, startMachines } from "./machines";
import { askPatroni, patroniSpec, SUPERUSER } from "./node";
import { fetchPrograms, type Programs } from "./programs";

/** A machine with Patroni and PostgreSQL. */
export interface HaNode {
  name: string;
  machine: Machine;
  /** Kills every process of the machine, as a power cut does. The disk stays. */
  kill(): Promise<void>;
  /** Kills PostgreSQL only. Patroni decides what happens next. */
  killPostgres(): void;
  start(): Promise<void>;
  /** Runs a statement on this server, from inside its machine. False without an answer in time. */
  execute(statement: string, timeoutMs?: number): Promise<boolean>;
}

/** Three PostgreSQL servers behind one address, which leads to their leader. */
export interface HaSet {
  host: string;
  port: number;
  /** The URL of a superuser, through HAProxy. */
  adminUrl: string;
  nodes: HaNode[];
  etcd: Etcd;
  logsDir: string;
  leader(): Promise<HaNode>;
  /** Moves the role of the leader to a replica, and returns when it is there. */
  switchOver(): Promise<void>;
  /** Waits until all three servers run, both replicas count for commits, and the address works. */
  untilHealthy(): Promise<void>;
  close(): Promise<void>;
}

export interface HaOptions {
  password: string;
  guard: Guard;
  logsDir: string;
  /** The size of each machine's disk, in memory. */
  diskMb?: number;
}

const HOST = "127.0.0.1";
const HEALTHY_MS = 180_000;
const LOOK_EVERY_MS = 250;
const SWITCHOVER_MS = 60_000;
const ANSWER_MS = 5_000;

/** Starts a set with empty disks. Its data ends with it. */
export async function startHaSet({ password, guard, logsDir, diskMb = 2_048 }: HaOptions): Promise<HaSet> {
  const user = postgresUser()!.user;
  const programs = await fetchPrograms();
  const folder = mkdtempSync(join(tmpdir(), "wonrail-ha-"));
  chmodSync(folder, 0o711); // PostgreSQL runs as another user.
  const machines = await startMachines(folder, diskMb);
  mkdirSync(logsDir, { recursive: true });
  const port = await randomFreePort();
  const adminUrl = `postgres://${SUPERUSER}:${password}@${HOST}:${port}/postgres`;
  const { etcd: command, env } = programs;
  const etcd = createEtcd({ command, env, host: machines.host, folder, logsDir }, guard);
  const nodes = machines.all.map((machine, index) => {
    chownSync(machine.disk, user.uid, user.gid);
    const name = `node${index + 1}`;
    const place = { name, machine, logFile: join(logsDir, `${name}.log`) };
    const spec = patroniSpec({ ...place, programs, user, password, etcd: etcd.addresses });
    return createNode(spec, { machine, guard, psql: join(programs.postgres, "psql"), password });
  });
  let proxy: OwnedProcess | undefined;
  const set: HaSet = {
    ...{ host: HOST, port, adminUrl, nodes, etcd, logsDir },
    leader: () => findLeader(nodes),
    switchOver: () => switchOver(nodes),
    untilHealthy: () => untilHealthy(nodes, adminUrl),
    async close() {
      await proxy?.stop();
      await Promise.all(nodes.map((node) => node.kill()));
      await etcd.kill();
      await machines.close();
    },
  };
  try {
    await etcd.start();
    await Promise.all(nodes.map((node) => node.start()));
    proxy = await startProcess(
      proxySpec({ ...{ programs, user, port, logsDir }, network: machines.network }),
      guard,
    );
    await set.untilHealthy();
    return set;
  } catch (error) {
    await set.close();
    throw error;
  }
}

interface NodeParts {
  machine: Machine;
  guard: Guard;
  psql: string;
  password: string;
}

function createNode(spec: ProcessSpec, { machine, guard, psql, password }: NodeParts): HaNode {
  let patroni: OwnedProcess | undefined;
  return {
    name: spec.name,
    machine,
    async kill() {
      while (machine.pids().length > 0) {
        machine.signal("SIGKILL");
        await sleep(20);
      }
      await patroni?.exited;
    },
    killPostgres() {
      const [pid] = readFileSync(join(machine.disk, "data/postmaster.pid"), "utf8").split("\n");
      process.kill(Number(pid), "SIGKILL");
    },
    async start() {
      if (patroni) return;
      const owned = (patroni = await spawnProcess(spec, guard));
      void owned.exited.then(() => (patroni = undefined));
    },
    async execute(statement, timeoutMs = ANSWER_MS) {
      const [command, ...inside] = machine.enter;
      const args = [...inside, psql, "-X", "-h", machine.host, "-U", SUPERUSER, "-c", statement];
      const env = { ...spec.env, PGPASSWORD: password, PGCONNECT_TIMEOUT: "2" };
      return (await runCommand(command!, args, { env, timeoutMs })).ok;
    },
  };
}

interface ProxyOptions {
  programs: Programs;
  user: SystemUser;
  network: string;
  port: number;
  logsDir: string;
}

function proxySpec({ programs, user, network, port, logsDir }: ProxyOptions): ProcessSpec {
  const config = join(REPOSITORY, "deploy/ha/haproxy.cfg");
  return {
    name: "haproxy",
    command: programs.haproxy,
    args: () => ["-db", "-f", config],
    env: { ...inheritedEnv(), ...programs.env, HA_LISTEN: `${HOST}:${port}`, HA_NETWORK: network },
    ...{ cwd: "/", user },
    logFile: join(logsDir, "haproxy.log"),
    stopSignal: "SIGTERM",
    stopGraceMs: 2_000,
    readyTimeoutMs: 120_000,
    probe: () => assertListening(port),
  };
}

async function assertListening(port: number): Promise<void> {
  const socket = connect(port, HOST);
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}

async function findLeader(nodes: HaNode[]): Promise<HaNode> {
  for (const endMs = Date.now() + HEALTHY_MS; Date.now() < endMs; await sleep(LOOK_EVERY_MS)) {
    const answers = await Promise.all(nodes.map((node) => isLeader(node)));
    const leader = nodes.find((_, index) => answers[index]);
    if (leader) return leader;
  }
  throw new Error("the set has no leader");
}

async function isLeader({ machine }: HaNode): Promise<boolean> {
  const { status } = await askPatroni(machine.host, "primary").catch(() => ({ status: 0 }));
  return status === 200;
}

async function switchOver(nodes: HaNode[]): Promise<void> {
  const { name, machine } = await findLeader(nodes);
  const response = await askPatroni(machine.host, "switchover", {
    ...{ method: "POST", body: JSON.stringify({ leader: name }) },
    signal: AbortSignal.timeout(SWITCHOVER_MS),
  });
  if (response.status !== 200) throw new Error(`Patroni refuses the switchover: ${await response.text()}`);
}

interface Member {
  role: string;
  state: string;
}

async function untilHealthy(nodes: HaNode[], adminUrl: string): Promise<void> {
  let problem: unknown;
  for (const endMs = Date.now() + HEALTHY_MS; Date.now() < endMs; await sleep(LOOK_EVERY_MS)) {
    try {
      const { machine } = await findLeader(nodes);
      const response = await askPatroni(machine.host, "cluster");
      const { members } = (await response.json()) as { members: Member[] };
      const states = members.map(({ role, state }) => `${role} ${state}`).sort();
      if (states.join() !== HEALTHY) throw new Error(`the set is ${states.join(", ")}`);
      await Promise.all(nodes.map(assertUsesEtcd));
      return await assertWritable(adminUrl);
    } catch (error) {
      problem = error;
    }
  }
  throw new Error("the set is not healthy", { cause: problem });
}

const HEALTHY = ["leader running", "quorum_standby streaming", "quorum_standby streaming"].join();

/** For 20 seconds after an outage of etcd, no replica takes over, because the leader asked for it. */
async function assertUsesEtcd({ name, machine }: HaNode): Promise<void> {
  const response = await askPatroni(machine.host, "patroni");
  const { failsafe_mode_is_active: isOutage } = (await response.json()) as {
    failsafe_mode_is_active?: boolean;
  };
  if (isOutage) throw new Error(`${name} still acts as without etcd`);
}

async function assertWritable(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 2_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query("select pg_is_in_recovery() as standby");
    if ((rows as { standby: boolean }[])[0]!.standby) throw new Error("the address leads to a replica");
  } finally {
    await client.end().catch(() => undefined);
  }
}
