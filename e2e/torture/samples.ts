import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { asAdmin } from "../support/asAdmin";
import { checkResources, type Sample } from "./checker";
import { type World } from "./world/openWorld";

/** Longer than the minute after which a pool closes an idle connection. */
const RETURN_MS = 75_000;
const LOOK_EVERY_MS = 2_000;

/** Samples until each use has returned to its start, for 75 seconds at most. Adds the last ones. */
export async function addEndSamples(world: World, start: Sample[]): Promise<Sample[]> {
  for (const endMs = Date.now() + RETURN_MS; ; await sleep(LOOK_EVERY_MS)) {
    const samples = [...start, ...(await takeSamples(world, "end"))];
    if (checkResources({ samples }).length === 0 || Date.now() > endMs) return samples;
  }
}

/** The present use of resources by each process. Connections are counted per service. */
export async function takeSamples({ stack, replicas }: World, phase: Sample["phase"]): Promise<Sample[]> {
  const connections = await asAdmin(stack, "ledger", (db) =>
    db.query<{ name: string; count: bigint }>(
      sql`select application_name as name, count(*) as count from pg_stat_activity group by application_name`,
    ),
  );
  return replicas.flatMap(({ name, service, pid: pidOf }) => {
    const pid = pidOf();
    if (pid === undefined) return [];
    const own = connections.find((one) => one.name === service);
    return [{ process: name, phase, ...usageOf(pid), databaseConnections: Number(own?.count ?? 0) }];
  });
}

function usageOf(pid: number): Pick<Sample, "residentBytes" | "fileDescriptors"> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return { residentBytes: Number(kilobytes) * 1_024, fileDescriptors: readdirSync(`/proc/${pid}/fd`).length };
}
