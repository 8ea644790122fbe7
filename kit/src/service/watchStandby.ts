import { type Database, sql } from "../db";
import { type Log } from "../log";
import { Gauge, type Registry } from "../metrics";
import { type Job } from "./jobs";

const EVERY_MS = 60_000;

/**
 * Reports whether acknowledged writes are also on a second machine. That depends on the server's
 * settings, which may change at a failover. A server that waits for an absent stand-by
 * acknowledges nothing, which is another alert.
 */
export function watchStandby(db: Database, { log, registry }: { log: Log; registry: Registry }): Job {
  const waits = new Gauge({
    name: "pg_waits_for_standby",
    help: "1 if a stand-by has every acknowledged commit, 0 if a failover may lose commits; absent without DATABASE_STANDBY",
    registers: [registry],
  });
  return {
    name: "watch_standby",
    everyMs: EVERY_MS,
    async run() {
      const { kept } = await db.one<{ kept: boolean }>(sql`
        select current_setting('synchronous_standby_names') <> ''
          and current_setting('synchronous_commit') not in ('off', 'local') as kept`);
      waits.set(kept ? 1 : 0);
      if (!kept)
        log.warn("Postgres acknowledges commits that no stand-by has stored; a failover may lose them");
    },
  };
}
