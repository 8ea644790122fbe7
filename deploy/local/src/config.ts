import { existsSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";

/** The repository's root, both from `src` and from `dist`. */
export const REPOSITORY = resolve(__dirname, "../../..");

export type BusChoice = "kafka" | "feed";

export interface LocalConfig {
  /** The folder of the data, the logs and stack.json. */
  home: string;
  /** The requested bus; undefined: the best of this machine. */
  bus: BusChoice | undefined;
  /** Whether the services talk by mutual TLS. */
  mtls: boolean;
  /** Addresses of existing brokers. */
  kafkaBrokers: string | undefined;
  /** A superuser's URL of an existing PostgreSQL. */
  postgresUrl: string | undefined;
  /** Downloads that every stack of this user shares. */
  cacheDir: string;
  javaHome: string | undefined;
  color: boolean;
  /** False where lines cannot be rewritten. */
  animate: boolean;
}

type Env = Record<string, string | undefined>;

/** The only reader of the environment in this workspace. */
export function readConfig(env: Env = process.env): LocalConfig {
  return {
    home: resolve(value(env, "WONRAIL_HOME") ?? join(REPOSITORY, ".wonrail")),
    bus: readBus(value(env, "WONRAIL_BUS")),
    mtls: readSwitch(env, "WONRAIL_MTLS"),
    kafkaBrokers: value(env, "KAFKA_BROKERS"),
    postgresUrl: value(env, "WONRAIL_POSTGRES_URL"),
    cacheDir: cacheDir(env),
    javaHome: value(env, "JAVA_HOME"),
    color: value(env, "NO_COLOR") === undefined,
    animate: value(env, "TERM") !== "dumb" && value(env, "CI") === undefined,
  };
}

export interface TestConfig extends Pick<LocalConfig, "bus" | "cacheDir" | "javaHome"> {
  postgresUrl: string | undefined;
  kafkaBrokers: string | undefined;
}

/** Settings of a test run: servers that run already, or a run without Kafka. */
export function readTestConfig(env: Env = process.env): TestConfig {
  const { bus, cacheDir, javaHome } = readConfig(env);
  const postgresUrl = value(env, "WONRAIL_TEST_POSTGRES_URL");
  return { bus, cacheDir, javaHome, postgresUrl, kafkaBrokers: value(env, "WONRAIL_TEST_KAFKA_BROKERS") };
}

/** The variables that a child process needs, without accidental configuration. */
export function inheritedEnv(env: Env = process.env): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "JAVA_HOME",
    "DOCKER_HOST",
    "MAVEN_OPTS",
    "SSL_CERT_FILE",
  ]) {
    const text = value(env, name);
    if (text !== undefined) kept[name] = text;
  }
  return kept;
}

export function parseBus(text: string): BusChoice {
  if (text === "kafka" || text === "feed") return text;
  throw new Error(`"${text}" is no bus: choose kafka or feed.`);
}

function readBus(text: string | undefined): BusChoice | undefined {
  return text === undefined ? undefined : parseBus(text);
}

function readSwitch(env: Env, name: string): boolean {
  const text = value(env, name) ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw new Error(`${name} is "${text}": it takes true or false.`);
}

/** A service account or a container may have no home folder; its downloads then live beside the other temporary files. */
function cacheDir(env: Env): string {
  const explicit = value(env, "XDG_CACHE_HOME");
  if (explicit !== undefined) return join(explicit, "wonrail");
  const home = value(env, "HOME") ?? homedir();
  if (home !== "/" && existsSync(home)) return join(home, ".cache", "wonrail");
  return join(tmpdir(), `wonrail-cache-${userInfo().uid}`);
}

function value(env: Env, name: string): string | undefined {
  const text = env[name];
  return text === undefined || text === "" ? undefined : text;
}
