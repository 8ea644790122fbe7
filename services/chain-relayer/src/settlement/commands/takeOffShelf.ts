import { type Database, isTransient, tx, type Tx } from "@wonrail/kit/db";
import { buryEvent, countBuried } from "@wonrail/kit/inbox";
import { type Log } from "@wonrail/kit/log";
import { type Registry } from "@wonrail/kit/metrics";
import { type EventEnvelope } from "@wonrail/proto/common/v1/common";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { isOutcome } from "../../evm";
import { type FinalRange } from "../../indexer";
import { findByOperationIds } from "../store/operations";
import { listHungryLanes } from "../store/plannedOperations";
import {
  deleteShelved,
  findLastShelved,
  listShelved,
  listShelvedUpTo,
  noteFed,
  type ShelvedRow,
  TakenByAnother,
} from "../store/shelf";
import { roomToPlan } from "./planOperations";
import { ingestEntries } from "./ingest";

export interface ShelfDeps {
  db: Database;
  log: Log;
  registry: Registry;
}

/** Who has put entries on the shelf: what is none becomes a dead letter of that consumer. */
export const SETTLEMENT = { group: "chain-relayer.settlement", topic: "wonrail.ledger.v1" };

/** As many lanes as one look may serve, and of all of them together about so many entries; of one at least a few. */
const MOST_LANES = 100;
const AT_ONCE = 1_000;
const LEAST_EACH = 50;
/** Of a row there are hundreds of entries, or one. */
const ROWS_AT_ONCE = 25;

/**
 * Makes operations of what is on the shelf, for lanes that have little else to go on with; each gets some before any gets more. False when there is no such
 * lane.
 */
export async function takeOffShelf(deps: ShelfDeps, signal: AbortSignal): Promise<boolean> {
  const { db } = deps;
  const lanes = await listHungryLanes(db, MOST_LANES);
  if (lanes.length === 0) return false;
  if ((await roomToPlan(db)) === 0) return true;
  // Before anything can fail: one that fails must not be the first for ever.
  await noteFed(db, lanes);
  const rows = await listShelved(db, lanes, Math.max(LEAST_EACH, Math.ceil(AT_ONCE / lanes.length)));
  for (const part of partsOf(rows)) {
    if (signal.aborted) return true;
    await take(deps, part);
  }
  return true;
}

/** All of it that is there now, of paused lanes as well: what the chain has done of it has to be known before that is taken in. */
export async function clearShelf(deps: ShelfDeps): Promise<void> {
  const last = await findLastShelved(deps.db);
  if (last === null) return;
  deps.log.warn("the chain has done what is on no list: all that is on the shelf is taken in");
  for (;;) {
    const rows = await listShelvedUpTo(deps.db, last, ROWS_AT_ONCE);
    if (rows.length === 0) return;
    await take(deps, rows);
  }
}

/** After a restore the chain may have executed entries of the shelf, from before they came there. */
export async function ingestExecutedEntries(deps: ShelfDeps, { events }: FinalRange): Promise<void> {
  const { db } = deps;
  const executed = events.filter(isOutcome).map(({ operationId }) => operationId);
  if (executed.length === 0 || (await findLastShelved(db)) === null) return;
  const known = await findByOperationIds(db, executed);
  if (executed.some((operationId) => !known.has(operationId))) await clearShelf(deps);
}

/** As many rows as have about so many entries as go in one transaction. */
function partsOf(rows: ShelvedRow[]): ShelvedRow[][] {
  const parts: ShelvedRow[][] = [];
  let room = 0;
  for (const row of rows) {
    if (room <= 0) {
      parts.push([]);
      room = AT_ONCE;
    }
    parts.at(-1)!.push(row);
    room -= row.events.length;
  }
  return parts;
}

/** Or leaves them to whoever is taking them. */
async function take(deps: ShelfDeps, rows: ShelvedRow[]): Promise<void> {
  const entries = rows.flatMap(({ events, since }) => events.map((event) => ({ event, since })));
  try {
    await tx(deps.db, async (tx) => {
      await deleteShelved(tx, rows);
      await takeIn(tx, entries);
    });
  } catch (error) {
    if (error instanceof TakenByAnother) return;
    if (isTransient(error)) throw error;
    deps.log.warn({ err: error, entries: entries.length }, "entries failed together; going by halves");
    await bury(deps, rows, await takeInByHalves(deps.db, entries));
  }
}

interface Shelved {
  event: EventEnvelope;
  since: Date;
}

interface Refused {
  event: EventEnvelope;
  error: unknown;
}

/** Gives those that cannot be taken in. What was taken in before is there once all the same. */
async function takeInByHalves(db: Database, entries: Shelved[]): Promise<Refused[]> {
  try {
    await tx(db, (tx) => takeIn(tx, entries));
    return [];
  } catch (error) {
    if (isTransient(error)) throw error;
    if (entries.length === 1) return [{ event: entries[0]!.event, error }];
    const half = entries.length >> 1;
    const first = await takeInByHalves(db, entries.slice(0, half));
    return [...first, ...(await takeInByHalves(db, entries.slice(half)))];
  }
}

/** As if the bus had just brought them. */
async function bury({ db, log, registry }: ShelfDeps, rows: ShelvedRow[], refused: Refused[]): Promise<void> {
  const { group, topic } = SETTLEMENT;
  await tx(db, async (tx) => {
    await deleteShelved(tx, rows);
    for (const { event, error } of refused) await buryEvent(tx, group, topic, event, error);
  });
  countBuried(registry, group, topic, refused.length);
  for (const { event, error } of refused)
    log.error({ err: error, eventId: event.eventId, orgId: event.orgId }, "an entry became a dead letter");
}

function takeIn(tx: Tx, entries: Shelved[]): Promise<void> {
  return ingestEntries(
    tx,
    entries.map(({ event, since }) => ({
      origin: event,
      entry: JournalPosted.decode(event.payload).entry!,
      since,
    })),
  );
}
