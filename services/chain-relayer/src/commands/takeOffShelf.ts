import { type Database, isTransient, tx, type Tx } from "@wonrail/kit/db";
import { buryEvent } from "@wonrail/kit/inbox";
import { type Log } from "@wonrail/kit/log";
import { type EventEnvelope } from "@wonrail/proto/common/v1/common";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { findHungryLane } from "../store/plannedOperations";
import { deleteShelved, listShelved, type ShelvedRow } from "../store/shelf";
import { takeInEntries } from "./takeIn";

/** Who has put entries on the shelf: what is none becomes a dead letter of that consumer. */
export const SETTLEMENT = { group: "chain-relayer.settlement", topic: "wonrail.ledger.v1" };

/** As many as are planned of a lane at once, or it would wait for the next look. */
const AT_ONCE = 1_000;
/** Lanes that are looked after before anything is planned; or as much of one where everything is behind something that comes later. */
const MOST_ROUNDS = 20;

/** Makes operations of what is on the shelf, for lanes that have nothing else to go on with. */
export async function takeOffShelf(
  { db, log }: { db: Database; log: Log },
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS && !signal.aborted; round += 1) {
    const orgId = await findHungryLane(db);
    if (orgId === undefined) return;
    const rows = await listShelved(db, orgId, AT_ONCE);
    try {
      await tx(db, async (tx) => {
        await deleteShelved(tx, rows);
        await takeIn(tx, eventsOf(rows));
      });
    } catch (error) {
      if (isTransient(error)) throw error;
      log.warn({ err: error, orgId }, "entries failed together; going one by one");
      await takeOneByOne(db, log, rows);
    }
  }
}

/** Whatever is not to be taken in becomes a dead letter, as if the bus had just brought it. What was taken in before is there once all the same. */
async function takeOneByOne(db: Database, log: Log, rows: ShelvedRow[]): Promise<void> {
  const refused: { event: EventEnvelope; error: unknown }[] = [];
  for (const event of eventsOf(rows)) {
    try {
      await tx(db, (tx) => takeIn(tx, [event]));
    } catch (error) {
      if (isTransient(error)) throw error;
      refused.push({ event, error });
    }
  }
  await tx(db, async (tx) => {
    await deleteShelved(tx, rows);
    for (const { event, error } of refused)
      await buryEvent(tx, SETTLEMENT.group, SETTLEMENT.topic, event, error);
  });
  for (const { event, error } of refused)
    log.error({ err: error, eventId: event.eventId, orgId: event.orgId }, "an entry became a dead letter");
}

function eventsOf(rows: ShelvedRow[]): EventEnvelope[] {
  return rows.flatMap(({ events }) => events);
}

function takeIn(tx: Tx, events: EventEnvelope[]): Promise<void> {
  return takeInEntries(
    tx,
    events.map((event) => ({ origin: event, entry: JournalPosted.decode(event.payload) })),
  );
}
