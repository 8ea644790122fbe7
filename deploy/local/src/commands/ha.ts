import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type HaSet, startHaSet } from "../ha/haSet";
import { REST_PORT } from "../ha/node";
import { missingHaReason } from "../ha/programs";
import { startGuard } from "../process/guard";

const LOOK_EVERY_MS = 1_000;

/** Starts three PostgreSQL servers and prints who leads, until Ctrl-C. Returns the exit code. */
export async function ha(): Promise<number> {
  const missing = missingHaReason();
  if (missing !== undefined) {
    process.stderr.write(`skipped: ${missing}\n`);
    return 1;
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const guard = startGuard();
  process.stdout.write("starting etcd, Patroni, PostgreSQL and HAProxy …\n");
  const logsDir = mkdtempSync(join(tmpdir(), "wonrail-ha-logs-"));
  const set = await startHaSet({ password: randomBytes(16).toString("hex"), guard, logsDir });
  try {
    process.stdout.write(describeSet(set));
    await Promise.race([once(stop.signal, "abort"), reportLeaders(set, stop.signal)]);
    return 0;
  } finally {
    await set.close();
    guard.close();
  }
}

function describeSet({ adminUrl, nodes, logsDir }: HaSet): string {
  const urls = nodes.map(({ name, machine }) => `  ${name}  http://${machine.host}:${REST_PORT}/patroni`);
  return `
  ${adminUrl}
${urls.join("\n")}
  logs   ${logsDir}

The data is in memory and ends with this command. A stack on this set:
  WONRAIL_HOME=$(mktemp -d) WONRAIL_POSTGRES_URL=${adminUrl} make up
Move the leader:
  curl -d '{"leader": "node1"}' ${urls[0]!.trim().split(/ +/)[1]!.replace("patroni", "switchover")}

`;
}

async function reportLeaders(set: HaSet, signal: AbortSignal): Promise<void> {
  for (let last = ""; !signal.aborted; await sleep(LOOK_EVERY_MS)) {
    const { name } = await set.leader();
    if (name !== last) process.stdout.write(`${new Date().toISOString()}  ${name} leads\n`);
    last = name;
  }
}
