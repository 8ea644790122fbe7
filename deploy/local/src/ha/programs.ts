import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inheritedEnv, REPOSITORY } from "../config";
import { PartError } from "../parts/partError";
import { systemBinaries, type SystemUser } from "../parts/postgresBinaries";
import { postgresUser } from "../parts/postgresUser";
import { runCommand } from "../process/runCommand";

/** The programs of a set. */
export interface Programs {
  python: string;
  etcd: string;
  haproxy: string;
  /** The folder with `postgres`, `pg_basebackup` and `pg_rewind`. */
  postgres: string;
  /** Lets the programs find libraries that were fetched with them. */
  env: Record<string, string>;
}

const REQUIREMENTS = join(REPOSITORY, "deploy/ha/requirements.txt");
/** Only root starts a set, and PostgreSQL's user must read the files. So a home folder is unsuitable. */
const CACHE = "/var/cache/wonrail";
const SYSTEM_PATH = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const DEBIAN_PACKAGES = ["etcd-server", "haproxy", "postgresql"];
const FETCH_MS = 600_000;

/** Why this machine cannot run a set, if so. Downloads may still fail later. */
export function missingHaReason(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "high availability needs root on Linux, for a network and a disk of each server";
  const tool = ["ip", "nsenter", "mount"].find((name) => onPath(name) === undefined);
  if (tool !== undefined) return `high availability needs \`${tool}\` (Debian: iproute2, util-linux)`;
  if (findPython(postgresUser()?.user) === undefined)
    return "Patroni needs Python 3.9 or later with its module venv (Debian: python3-venv)";
  if (findPrograms([]) === undefined && onPath("apt-get") === undefined)
    return "etcd, HAProxy or PostgreSQL's pg_basebackup and pg_rewind are not installed";
  return undefined;
}

/** Fetches the missing programs, once for each version of the requirements. Installs nothing. */
export async function fetchPrograms(): Promise<Programs> {
  const hash = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex").slice(0, 12);
  const folder = join(CACHE, `ha-${hash}`);
  if (!existsSync(folder)) await fill(folder);
  const programs = findPrograms([join(folder, "debian")]);
  if (programs) return { ...programs, python: join(folder, "venv/bin/python") };
  rmSync(folder, { recursive: true, force: true });
  throw unavailable("Debian's packages lack a program", `install ${DEBIAN_PACKAGES.join(", ")}`);
}

/** Fills a temporary folder and renames it when complete, so an interrupted download is harmless. */
async function fill(folder: string): Promise<void> {
  const unfinished = `${folder}.${randomBytes(4).toString("hex")}`;
  mkdirSync(unfinished, { recursive: true, mode: 0o755 });
  try {
    await installPatroni(join(unfinished, "venv"));
    if (findPrograms([]) === undefined) await unpackDebian(unfinished);
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function installPatroni(folder: string): Promise<void> {
  const python = findPython(postgresUser()?.user)!;
  const next = "check that pip reaches its index (pip config list), then start again.";
  await run(python, ["-m", "venv", folder], "install python3-venv, then start again.");
  await run(join(folder, "bin/python"), ["-m", "pip", "install", "-q", "-r", REQUIREMENTS], next);
}

/** Unpacks the missing packages beside each other. Installing them would start their services. */
async function unpackDebian(folder: string): Promise<void> {
  const next = `install ${DEBIAN_PACKAGES.join(", ")}, then start again.`;
  const plan = ["-s", "install", "--no-install-recommends", "--no-upgrade", ...DEBIAN_PACKAGES];
  const env = { LC_ALL: "C" };
  let { ok, stdout } = await runCommand("apt-get", plan, { env });
  if (!ok) {
    // The package lists are missing, as in a fresh container.
    await run("apt-get", ["update", "-q"], next);
    ({ ok, stdout } = await runCommand("apt-get", plan, { env }));
  }
  const names = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name!);
  const packages = join(folder, "packages");
  mkdirSync(packages);
  await run("sh", ["-c", 'cd "$0" && apt-get download -q "$@"', packages, ...names], next);
  for (const file of readdirSync(packages))
    await run("dpkg", ["-x", join(packages, file), join(folder, "debian")], next);
  rmSync(packages, { recursive: true });
}

/** The programs of the machine, or those below one of the folders. */
function findPrograms(roots: string[]): Omit<Programs, "python"> | undefined {
  const folders = [...SYSTEM_PATH, ...roots.flatMap((root) => SYSTEM_PATH.map((path) => join(root, path)))];
  const [etcd, haproxy] = ["etcd", "haproxy"].map((name) => onPath(name, folders));
  const servers = [...systemBinaries(), ...roots.flatMap(unpackedServers)];
  const postgres = servers.find((bin) => TOOLS.every((tool) => existsSync(join(bin, tool))));
  if (etcd === undefined || haproxy === undefined || postgres === undefined) return undefined;
  const libraries = roots.flatMap((root) =>
    ["usr/lib", "lib"].flatMap((lib) => librariesOf(join(root, lib))),
  );
  const env: Record<string, string> = libraries.length === 0 ? {} : { LD_LIBRARY_PATH: libraries.join(":") };
  return { etcd, haproxy, postgres, env };
}

/** npm's package of PostgreSQL has the first one only. */
const TOOLS = ["postgres", "pg_basebackup", "pg_rewind", "psql"];

function unpackedServers(root: string): string[] {
  const folder = join(root, "usr/lib/postgresql");
  return existsSync(folder) ? readdirSync(folder).map((version) => join(folder, version, "bin")) : [];
}

/** Debian keeps libraries in a folder with the name of the processor, such as x86_64-linux-gnu. */
function librariesOf(lib: string): string[] {
  if (!existsSync(lib)) return [];
  return readdirSync(lib)
    .filter((name) => name.includes("-linux-"))
    .map((name) => join(lib, name));
}

function onPath(name: string, folders = SYSTEM_PATH): string | undefined {
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** The Python that PostgreSQL's user can run: not one in the home folder of root. */
function findPython(user: SystemUser | undefined): string | undefined {
  const check = "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 9))";
  const found = SYSTEM_PATH.map((folder) => join(folder, "python3")).filter((path) => existsSync(path));
  return found.find((python) => {
    const options = { cwd: "/", env: inheritedEnv(), ...user };
    return spawnSync(python, ["-c", check], options).status === 0;
  });
}

async function run(command: string, args: string[], next: string): Promise<void> {
  const { ok, problem } = await runCommand(command, args, { timeoutMs: FETCH_MS });
  if (!ok) throw unavailable(problem, next);
}

function unavailable(why: string, next: string): PartError {
  return new PartError("the programs for high availability cannot be fetched", why, next);
}
