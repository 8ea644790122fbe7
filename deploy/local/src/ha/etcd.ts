import { join } from "node:path";
import { inheritedEnv } from "../config";
import type { Guard } from "../process/guard";
import { type OwnedProcess, type ProcessSpec, signalGroup, spawnProcess } from "../process/ownedProcess";

/** Three members, which keep Patroni's lock: the name of the leader. */
export interface Etcd {
  /** For clients. */
  addresses: string[];
  start(): Promise<void>;
  /** Kills all members. Their data stays. */
  kill(): Promise<void>;
}

interface EtcdOptions {
  command: string;
  env: Record<string, string>;
  /** The address of all members. */
  host: string;
  folder: string;
  logsDir: string;
}

const MEMBERS = ["etcd1", "etcd2", "etcd3"];
const FIRST_PORT = 2_379;
/** The defaults are for members on machines of their own. */
const PATIENCE = ["--heartbeat-interval", "200", "--election-timeout", "2000"];

export function createEtcd(options: EtcdOptions, guard: Guard): Etcd {
  const specs = MEMBERS.map((name) => memberSpec(name, options));
  let running: OwnedProcess[] = [];
  return {
    addresses: MEMBERS.map((name) => addressesOf(name, options.host).clients),
    async start() {
      if (running.length > 0) return;
      running = await Promise.all(specs.map((spec) => spawnProcess(spec, guard)));
      await Promise.all(running.map((member) => member.ready()));
    },
    async kill() {
      for (const { pid } of running) signalGroup(pid, "SIGKILL");
      await Promise.all(running.map(({ exited }) => exited));
      running = [];
    },
  };
}

function addressesOf(name: string, host: string): { clients: string; peers: string } {
  const port = FIRST_PORT + 100 * MEMBERS.indexOf(name);
  return { clients: `${host}:${port}`, peers: `${host}:${port + 1}` };
}

function memberSpec(name: string, { command, env, host, folder, logsDir }: EtcdOptions): ProcessSpec {
  const { clients, peers } = addressesOf(name, host);
  const cluster = MEMBERS.map((one) => `${one}=http://${addressesOf(one, host).peers}`).join(",");
  const args = [
    ...["--name", name, "--data-dir", join(folder, name), ...PATIENCE],
    ...["--listen-client-urls", `http://${clients}`, "--advertise-client-urls", `http://${clients}`],
    ...["--listen-peer-urls", `http://${peers}`, "--initial-advertise-peer-urls", `http://${peers}`],
    ...["--initial-cluster", cluster],
  ];
  return {
    ...{ name, command, args: () => args, cwd: "/", logFile: join(logsDir, `${name}.log`) },
    // Version 3.4 refuses other processors without it.
    env: { ...inheritedEnv(), ...env, ETCD_UNSUPPORTED_ARCH: process.arch },
    ...{ stopSignal: "SIGTERM", stopGraceMs: 5_000, readyTimeoutMs: 60_000 },
    probe: () => assertHealthy(clients),
  };
}

async function assertHealthy(address: string): Promise<void> {
  const { status } = await fetch(`http://${address}/health`, { signal: AbortSignal.timeout(1_000) });
  if (status !== 200) throw new Error(`etcd answers with ${status}`);
}
