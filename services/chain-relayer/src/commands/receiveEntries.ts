import { type Queryable, type Tx } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { envelopeOf, type ReceivedEvent } from "@wonrail/kit/inbox";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { waitAtLeast } from "../store/plannedOperations";
import { insertShelved } from "../store/shelf";
import { takeInEntries } from "./takeIn";

/** Whether so much waits to be settled that more of it can wait as it came; as of a second ago at the most. */
export interface Backlog {
  isLong(db: Queryable): Promise<boolean>;
}

/** More than is planned ahead, of all lanes together. */
const LONG = 10_000;
const KNOWN_FOR_MS = 1_000;

export function createBacklog(nowMs: () => number, long = LONG): Backlog {
  let isLong = false;
  let lookedMs = -Infinity;
  return {
    async isLong(db) {
      if (nowMs() - lookedMs < KNOWN_FOR_MS) return isLong;
      isLong = await waitAtLeast(db, long);
      lookedMs = nowMs();
      return isLong;
    },
  };
}

/**
 * Takes in ledger entries as the bus brings them. Behind a long backlog they go on the shelf, at a tenth of the cost, until their lane comes to them. One that
 * comes alone is taken in at once: an operator may have had it tried again, who is to be told what becomes of it.
 */
export async function receiveEntries(tx: Tx, events: ReceivedEvent[], backlog: Backlog): Promise<void> {
  if (events.length > 1 && (await backlog.isLong(tx))) {
    for (const [orgId, those] of groupBy(events, (event) => event.orgId))
      insertShelved(tx, orgId, those.map(envelopeOf));
    return;
  }
  const entries = events.map((event) => ({ origin: event, entry: JournalPosted.decode(event.payload) }));
  await takeInEntries(tx, entries);
}
