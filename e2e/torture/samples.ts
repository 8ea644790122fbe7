import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { asAdmin } from "../support/asAdmin";
import { checkResources, type Sample } from "./checker";
import { type World } from "./world/openWorld";

const RETURN_MS = 75_000;
const LOOK_EVERY_MS = 2_000;

/** Samples until each use has returned to its start, for 75 seconds at most. Adds the last ones. */
export async function addEndSamples(world: World, start: Sample[]): Promise<Sample[]> {
  for (const endMs = Date.now() + RETURN_MS; ; await sleep(LOOK_EVERY_MS)) {
    const samples = [...start, ...(await takeSamples(world, "end"))];
    if (checkResources({ samples }).length === 0 || Date.now() > endMs) return samples;
  }
}

/**
 * The present use of resources by each process. Connections are counted per service. Idle
 * connections of a pool do not count.
 */
export async function takeSamples({ stack, replicas }: World, phase: Sample["phase"]): Promise<Sample[]> {
  const connections = await asAdmin(stack, "ledger", (db) =>
    db.query<{ name: string; count: bigint }>(
      sql`select application_name as name, count(*) as count from pg_stat_activity group by application_name`,
    ),
  );
  const idle = new Map<string, number>();
  for (const { service, ops } of replicas)
    idle.set(service, (idle.get(service) ?? 0) + (await idleConnectionsOf(ops)));
  return replicas.flatMap(({ name, service, pid: pidOf }) => {
    const pid = pidOf();
    if (pid === undefined) return [];
    const all = Number(connections.find((one) => one.name === service)?.count ?? 0);
    const databaseConnections = Math.max(0, all - idle.get(service)!);
    return [{ process: name, phase, ...usageOf(pid), databaseConnections }];
  });
}

/** A pool keeps an idle connection for a minute. */
async function idleConnectionsOf(ops: string): Promise<number> {
  const metrics = await (await fetch(`http://${ops}/metrics`)).text();
  const pools = metrics.matchAll(/^pg_pool_idle\{.*\} (\d+)$/gm);
  return [...pools].reduce((sum, [, count]) => sum + Number(count), 0);
}

function usageOf(pid: number): Pick<Sample, "residentBytes" | "fileDescriptors"> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return { residentBytes: Number(kilobytes) * 1_024, fileDescriptors: readdirSync(`/proc/${pid}/fd`).length };
}
