import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type ConsumerSpec, takeMissed } from "@wonrail/kit/inbox";
import { type Log } from "@wonrail/kit/log";
import { type Counter, type Registry } from "@wonrail/kit/metrics";
import { type RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { findReading, moveReading } from "../store/outboxReadings";

export interface MissedDeps {
  db: Database;
  log: Log;
  registry: Registry;
  relayer: Pick<PromiseClient<RelayerServiceService>, "listEvents">;
  missed: Counter;
}

const SERVICE = "chain-relayer";
/** Of one round: a day of events, after the first start, is not gone through at once. */
const MAX_PAGES = 200;

/**
 * Goes once through all that chain-relayer has given to the bus, some minutes behind it, and takes in what the bus has not brought: as the consumer
 * does, through its inbox. Replicas may do it at once; what both have is had once, and one of them goes on.
 */
export async function takeMissedEvents(
  { db, log, registry, relayer, missed }: MissedDeps,
  spec: ConsumerSpec,
  signal: AbortSignal,
): Promise<void> {
  const [topic] = spec.topics;
  for (let pages = 0; pages < MAX_PAGES && !signal.aborted; pages += 1) {
    const after = await findReading(db, SERVICE);
    const { events, position } = await relayer.listEvents({ after });
    const count = await takeMissed({ db, spec, log, registry }, topic!, events);
    if (count > 0) {
      missed.inc(count);
      const from = events[0]?.occurredAt;
      log.error(
        { events: count, from, to: events.at(-1)?.occurredAt },
        "the bus has not brought what chain-relayer gave to it: taken in from there",
      );
    }
    if (position !== after && !(await moveReading(db, SERVICE, after, position))) return;
    if (events.length === 0) return;
  }
}
