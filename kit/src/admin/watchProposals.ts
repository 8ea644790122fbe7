import { type Database } from "../db";
import { Gauge, type Registry } from "../metrics";
import { type Job } from "../service/jobs";
import { countOpenProposals } from "./proposals";

const EVERY_MS = 60_000;

/** Reports the proposals that wait for a second operator. */
export function watchProposals(db: Database, { registry }: { registry: Registry }): Job {
  const open = new Gauge({
    name: "operator_proposals_open",
    help: "Actions of operators that wait for the approval of a second operator",
    registers: [registry],
  });
  const oldest = new Gauge({
    name: "operator_proposals_oldest_seconds",
    help: "Age of the oldest action that waits for a second operator, 0 if none waits; it expires after 86400",
    registers: [registry],
  });
  return {
    name: "watch_proposals",
    everyMs: EVERY_MS,
    async run() {
      const found = await countOpenProposals(db);
      open.set(found.open);
      oldest.set(found.oldestSeconds);
    },
  };
}
