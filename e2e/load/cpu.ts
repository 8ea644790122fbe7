import { readFileSync, readdirSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/**
 * CPU seconds of this process and of all PostgreSQL processes. Unlike wall time they do not depend
 * on other load.
 */
export function cpuSeconds(): { node: number; postgres: number } {
  const { user, system } = process.cpuUsage();
  return { node: (user + system) / 1e6, postgres: postgresSeconds() };
}

function postgresSeconds(): number {
  let ticks = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      if (!/\((postgres|postmaster)/.test(stat)) continue;
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // The last two are of children that have ended.
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      continue; // The process has ended.
    }
  }
  return ticks / TICKS_PER_SECOND;
}
