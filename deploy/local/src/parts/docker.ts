import { spawnSync } from "node:child_process";
import { inheritedEnv } from "../config";
import type { Found } from "./java";

/** Asks the engine, because a client without one is useless. */
export function findDocker(): Found {
  const options = { encoding: "utf8", env: inheritedEnv(), timeout: 5_000 } as const;
  const { status, stdout, error } = spawnSync(
    "docker",
    ["version", "--format", "{{.Server.Version}}"],
    options,
  );
  if (status === 0 && stdout.trim() !== "") return { ok: true, command: "docker", version: stdout.trim() };
  if (error && "code" in error && error.code === "ENOENT") return { ok: false, why: "there is no Docker" };
  return { ok: false, why: "the Docker engine does not answer" };
}
