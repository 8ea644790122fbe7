import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import { inheritedEnv } from "../config";
import type { ProcessSpec } from "../process/ownedProcess";
import { commandLine, fingerprint } from "../process/fingerprint";
import { endLeftovers } from "../process/leftovers";
import { readText } from "../privateFile";
import { runCommand } from "../process/runCommand";
import { PartError } from "./partError";
import { findPostgresBinaries, type PostgresBinaries, type SystemUser } from "./postgresBinaries";
import { postgresUser } from "./postgresUser";

export interface PostgresOptions {
  /** The folder that holds, or will hold, the cluster. */
  dir: string;
  logFile: string;
  port: number;
  /** The superuser's password, set with the cluster's creation and constant afterwards. */
  password: string;
  /** false only for temporary clusters of tests: a crash of the machine would corrupt the data. */
  durable: boolean;
  maxConnections: number;
}

export interface PostgresPart {
  spec: ProcessSpec;
  host: string;
  port: number;
  adminUrl: string;
  label: string;
  /** The folder of the cluster; not below `dir` if PostgreSQL's user cannot enter that. */
  dataDir: string;
}

const SUPERUSER = "postgres";
const HOST = "127.0.0.1";

/** Creates the cluster if it is absent and returns how to start it. The process is ours. */
export async function preparePostgres(options: PostgresOptions): Promise<PostgresPart> {
  const account = postgresUser();
  const binaries = findPostgresBinaries(account?.user);
  const folder = enterableFolder(options.dir, account?.user);
  const dataDir = join(folder, "data");
  if (!existsSync(dataDir)) await makeCluster(binaries, folder, options, account?.user);
  const adminUrl = `postgres://${SUPERUSER}:${options.password}@${HOST}:${options.port}/postgres`;
  return {
    host: HOST,
    port: options.port,
    adminUrl,
    dataDir,
    label: account ? `${binaries.label}, as user ${account.name}` : binaries.label,
    spec: {
      name: "postgres",
      command: join(binaries.bin, "postgres"),
      args: () => ["-D", dataDir, ...settings(options).flatMap((setting) => ["-c", setting])],
      env: { ...inheritedEnv(), LC_ALL: "C" },
      cwd: "/",
      ...(account ? { user: account.user } : {}),
      logFile: options.logFile,
      stopSignal: "SIGINT", // "fast": ends the sessions, writes a checkpoint, goes.
      stopGraceMs: 20_000,
      readyTimeoutMs: 60_000,
      beforeSpawn: () => clearStalePid(dataDir),
      probe: () => connectOnce(adminUrl),
    },
  };
}

function settings({ port, durable, maxConnections }: PostgresOptions): string[] {
  // After a checkpoint the next change of each page logs all of it, so only timed checkpoints run.
  // Log files are kept, because creating one delays commits.
  const durability = durable
    ? ["max_wal_size=4GB", "min_wal_size=1GB"]
    : ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_wal_size=256MB"];
  return [
    `listen_addresses=${HOST}`,
    `port=${port}`,
    "unix_socket_directories=",
    `max_connections=${maxConnections}`,
    "shared_buffers=256MB",
    "jit=off", // Compiling takes longer than any of our statements.
    "max_wal_senders=0",
    "timezone=UTC",
    "log_timezone=UTC",
    "log_line_prefix=%m [%p] %q%a ",
    ...durability,
  ];
}

/**
 * Handles the process id that a killed PostgreSQL leaves behind. If another process of the user has
 * it, PostgreSQL would take that for its server and refuse to start. If it is a real server, it is
 * unsupervised and is ended.
 */
async function clearStalePid(dataDir: string): Promise<void> {
  const file = join(dataDir, "postmaster.pid");
  const pid = Number.parseInt(readText(file) ?? "", 10);
  const command = Number.isInteger(pid) ? commandLine(pid) : undefined;
  if (command === undefined) return; // PostgreSQL itself handles a free id.
  if (command.includes(dataDir)) {
    await endLeftovers([{ name: "postgres", pid, fingerprint: fingerprint(pid) ?? "" }]);
  } else {
    rmSync(file, { force: true });
  }
}

async function connectOnce(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A half-made cluster never gets the name `data`, so an interrupted first start is repeated. */
async function makeCluster(
  binaries: PostgresBinaries,
  folder: string,
  { password, durable }: PostgresOptions,
  user: SystemUser | undefined,
): Promise<void> {
  const unfinished = join(folder, "unfinished");
  const passwordFile = join(folder, "password");
  rmSync(unfinished, { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) chownSync(passwordFile, user.uid, user.gid);
  const args = [
    ...["-D", unfinished, "-U", SUPERUSER, "-A", "scram-sha-256", `--pwfile=${passwordFile}`],
    // Explicit, because initdb takes them from the caller's locale, which services and containers
    // lack.
    ...["--encoding=UTF8", "--locale=C", "--no-instructions"],
    ...(durable ? [] : ["--no-sync"]),
  ];
  const { ok, problem } = await runCommand(join(binaries.bin, "initdb"), args, {
    user,
    env: { LC_ALL: "C" },
  });
  rmSync(passwordFile, { force: true });
  if (!ok) {
    const next = `see that ${folder} can be written and has 100 MB free, then start again.`;
    throw new PartError("PostgreSQL's data folder could not be created", problem, next);
  }
  renameSync(unfinished, join(folder, "data"));
}

/**
 * The wanted folder, or one below /var/tmp when PostgreSQL's user cannot enter a parent (a checkout
 * in /root).
 */
function enterableFolder(wanted: string, user: SystemUser | undefined): string {
  const elsewhere = fallbackFolder(wanted);
  for (const folder of [wanted, elsewhere]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!user) return folder;
    changeOwner(folder, user);
    const entered = spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { cwd: "/", ...user });
    if (entered.status === 0) return folder;
  }
  throw new PartError(
    "PostgreSQL cannot use its data folder",
    `its user (uid ${user?.uid}) can enter neither ${wanted} nor ${elsewhere}`,
    "set WONRAIL_HOME to a folder that every user may enter, such as /var/lib/wonrail.",
  );
}

/** Every user can write below /var/tmp: root must not hand over the target of a stranger's link. */
function changeOwner(folder: string, { uid, gid }: SystemUser): void {
  const found = lstatSync(folder);
  if (!found.isDirectory() || ![0, uid].includes(found.uid)) {
    const next = `remove ${folder}, which we did not make, and start again.`;
    throw new PartError("PostgreSQL cannot use its data folder", `${folder} belongs to another user`, next);
  }
  lchownSync(folder, uid, gid);
  chmodSync(folder, 0o700);
}

/** The same folder at every start. */
export function fallbackFolder(wanted: string): string {
  return `/var/tmp/wonrail-data-${createHash("sha256").update(wanted).digest("hex").slice(0, 12)}`;
}
