import { join } from "node:path";
import { inheritedEnv, REPOSITORY } from "../config";
import type { SystemUser } from "../parts/postgresBinaries";
import type { ProcessSpec } from "../process/ownedProcess";
import type { Machine } from "./machines";
import type { Programs } from "./programs";

export const REST_PORT = 8008;
const POSTGRES_PORT = 5432;
export const SUPERUSER = "postgres";
const CONFIG = join(REPOSITORY, "deploy/ha/patroni.yaml");

export interface NodeOptions {
  name: string;
  machine: Machine;
  programs: Programs;
  user: SystemUser;
  /** Addresses of the etcd members. */
  etcd: string[];
  password: string;
  logFile: string;
}

/** How to start Patroni on a machine. Patroni starts and stops PostgreSQL there. */
export function patroniSpec(options: NodeOptions): ProcessSpec {
  const { name, machine, programs, user, logFile } = options;
  const [command, ...args] = [
    ...[...machine.enter, "--setuid", String(user.uid), "--setgid", String(user.gid)],
    ...[programs.python, "-m", "patroni", CONFIG],
  ];
  return {
    name,
    command: command!,
    args: () => args,
    // PostgreSQL's user cannot read the home folder of root.
    env: { ...inheritedEnv(), ...programs.env, HOME: machine.disk, LC_ALL: "C", ...settings(options) },
    cwd: "/",
    logFile,
    stopSignal: "SIGTERM",
    stopGraceMs: 20_000,
    readyTimeoutMs: 120_000,
    probe: () => assertRunning(machine.host),
  };
}

function settings({ name, machine, programs, etcd, password }: NodeOptions): Record<string, string> {
  const [rest, postgres] = [`${machine.host}:${REST_PORT}`, `${machine.host}:${POSTGRES_PORT}`];
  return {
    PATRONI_NAME: name,
    PATRONI_ETCD3_HOSTS: etcd.map((address) => `'${address}'`).join(","),
    PATRONI_RESTAPI_LISTEN: rest,
    PATRONI_RESTAPI_CONNECT_ADDRESS: rest,
    PATRONI_POSTGRESQL_LISTEN: postgres,
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: postgres,
    PATRONI_POSTGRESQL_BIN_DIR: programs.postgres,
    PATRONI_POSTGRESQL_DATA_DIR: join(machine.disk, "data"),
    PATRONI_POSTGRESQL_PGPASS: join(machine.disk, "pgpass"),
    PATRONI_SUPERUSER_USERNAME: SUPERUSER,
    PATRONI_SUPERUSER_PASSWORD: password,
    PATRONI_REPLICATION_USERNAME: "replicator",
    PATRONI_REPLICATION_PASSWORD: password,
  };
}

/** Patroni answers with 200 while PostgreSQL runs. */
async function assertRunning(host: string): Promise<void> {
  const { status } = await askPatroni(host, "health");
  if (status !== 200) throw new Error(`Patroni answers with ${status}`);
}

const ANSWER_MS = 1_000;

export function askPatroni(host: string, path: string, init: RequestInit = {}): Promise<Response> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  return fetch(`http://${host}:${REST_PORT}/${path}`, { signal, ...init });
}
