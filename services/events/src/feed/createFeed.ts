import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { Histogram } from "@wonrail/kit/metrics";
import { type ServiceParts } from "@wonrail/kit/service";
import { openBell } from "./bell";
import { deleteOldEvents } from "./commands/deleteOldEvents";
import { projectChain } from "./commands/projectChain";
import { projectJournal } from "./commands/projectJournal";
import { projectKeys } from "./commands/projectKeys";
import { projectMetadata } from "./commands/projectMetadata";
import { projectPayouts } from "./commands/projectPayouts";
import { projectWallets } from "./commands/projectWallets";
import { warnExpiringKeys } from "./commands/warnExpiringKeys";
import { getEvent } from "./queries/getEvent";
import { type EventsWanted, listEvents } from "./queries/listEvents";

const LAG_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];

export interface FeedParts extends Pick<ServiceParts<never>, "db" | "registry" | "onClose"> {
  /** The name that settlements show. */
  network: string;
}

/** The commands and queries of the feed, bound to their dependencies. */
export async function createFeed({ db, registry, onClose, network }: FeedParts) {
  const bell = await openBell(db);
  onClose("bell", () => bell.close());
  const deps = { db, bell, network };
  const lag = new Histogram({
    name: "events_projection_lag_seconds",
    help: "Age of the oldest event of a batch when the public events of the batch are written",
    labelNames: ["topic"],
    buckets: LAG_BUCKETS_SECONDS,
    registers: [registry],
  });

  return {
    projectJournal: measured(projectJournal),
    projectChain: measured(projectChain),
    projectWallets: measured(projectWallets),
    projectMetadata: measured(projectMetadata),
    projectPayouts: measured(projectPayouts),
    projectKeys: measured(projectKeys),
    warnExpiringKeys: (signal: AbortSignal) => warnExpiringKeys(deps, signal),
    deleteOldEvents: (signal: AbortSignal) => deleteOldEvents(deps, signal),
    listEvents: (wanted: EventsWanted) => listEvents(deps, wanted),
    getEvent: (key: Parameters<typeof getEvent>[1]) => getEvent(deps, key),
    onEvents: (listener: () => void) => bell.subscribe(listener),
    endWaits: () => bell.endWaits(),
  };

  function measured(project: (of: typeof deps, tx: Tx, events: ReceivedEvent[]) => Promise<void>) {
    return async (tx: Tx, events: ReceivedEvent[]): Promise<void> => {
      await project(deps, tx, events);
      const [oldest] = events;
      if (oldest) lag.observe({ topic: oldest.topic }, ageSeconds(oldest.occurredAt));
    };
  }
}

function ageSeconds(moment: Date): number {
  return Math.max(0, Date.now() - moment.getTime()) / 1000;
}
