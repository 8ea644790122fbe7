import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { inheritedEnv } from "../config";

const OLDEST_JAVA = 17;

export type Found = { ok: true; command: string; version: string } | { ok: false; why: string };

export function findJava(javaHome: string | undefined): Found {
  for (const command of [...(javaHome === undefined ? [] : [join(javaHome, "bin/java")]), "java"]) {
    const { status, stderr } = spawnSync(command, ["-version"], { encoding: "utf8", env: inheritedEnv() });
    const version = status === 0 ? /version "([^"]+)"/.exec(stderr)?.[1] : undefined;
    if (version === undefined) continue;
    if (Number.parseInt(version, 10) >= OLDEST_JAVA) return { ok: true, command, version };
    return { ok: false, why: `Java is ${version} here, and Kafka needs ${OLDEST_JAVA}` };
  }
  return { ok: false, why: "there is no Java" };
}

export function findMaven(): Found {
  const { status, stdout } = spawnSync("mvn", ["-v", "-B"], { encoding: "utf8", env: inheritedEnv() });
  const version = status === 0 ? /Apache Maven (\S+)/.exec(stdout)?.[1] : undefined;
  return version === undefined
    ? { ok: false, why: "there is no Maven" }
    : { ok: true, command: "mvn", version };
}
