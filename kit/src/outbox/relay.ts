import type { Bus, BusMessage } from "../bus/port";
import type { Database, Queryable } from "../db";
import { FAREWELL_MS } from "../bus/farewell";
import { unlessAborted } from "../bus/waiting";
import { failpoint } from "../failpoint";
import { uuidToId } from "../contract/ids";
import type { Log } from "../log";
import type { Registry } from "../metrics";
import { pause, type Pause } from "../pause";
import { doorbellOf, outboxChannel } from "./doorbell";
import { relayMetrics, type RelayMetrics } from "./relayMetrics";
import {
  markPublished,
  prepareRelaySession,
  readPending,
  tryLockRelay,
  type OutboxRow,
  type PendingRow,
} from "./store";
import { startUpkeep } from "./upkeep";

/**
 * Turns a row into the events that it stands for: a service whose events tell what it keeps for ever anyway writes down which rows they are
 * about, and builds them here.
 */
export interface Expander {
  /** This process publishes from now on, perhaps from a database that has taken over: nothing it knew before is certain. */
  begin(): void;
  /** Must give the same events, with the same ids, however often it is asked. */
  expand(connection: Queryable, row: OutboxRow): Promise<OutboxRow[]>;
}

export interface OutboxRelayOptions {
  db: Database;
  bus: Bus;
  log: Log;
  registry: Registry;
  batchSize?: number;
  /** How often it looks without being woken, and how often a stand-by asks whether the active relay has gone. */
  pollMs?: number;
  /** For rows that only say what their events are about. */
  expander?: Expander;
  /** How long published events are kept, to be published again if the bus should lose them. */
  retainMs?: number;
}

export interface OutboxRelay {
  wake(): void;
  /** Finishes the batch in hand, unless the bus does not answer; the rest stays for the next relay. */
  close(): Promise<void>;
}

const AS_THEY_ARE: Expander = { begin: () => undefined, expand: async (_connection, row) => [row] };
const DEFAULT_BATCH_SIZE = 1_000;
const DEFAULT_POLL_MS = 500;
const DEFAULT_RETAIN_MS = 86_400_000;
/** What is committed within this time goes together: a batch costs the bus and each consumer a transaction, however small it is. */
const LEAST_INTERVAL_MS = 50;
/** And within this time when there is much of it. */
const BUSY_INTERVAL_MS = 200;
const BUSY_EVENTS = 10;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

interface Relay extends Required<OutboxRelayOptions> {
  metrics: RelayMetrics;
  /** Sleeps until woken, closed or out of time. */
  rest: Pause;
  /** It was closed, and the bus has not answered since. */
  givenUp: AbortSignal;
}

/**
 * Moves events from the outbox to the bus, in order, at least once. Each replica starts one; the schema's advisory lock picks the one that
 * works, and the next takes over within a poll when it is gone. What is not on the bus is found by looking at what is not marked, never
 * by remembering a position: a transaction that commits late has a low id.
 */
export function startOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const givingUp = new AbortController();
  const relay: Relay = {
    batchSize: DEFAULT_BATCH_SIZE,
    pollMs: DEFAULT_POLL_MS,
    retainMs: DEFAULT_RETAIN_MS,
    expander: AS_THEY_ARE,
    ...options,
    metrics: relayMetrics(options.registry),
    rest: pause(),
    givenUp: givingUp.signal,
  };
  const upkeep = startUpkeep(relay);
  const done = runUntilClosed(relay);
  return {
    wake: () => relay.rest.wake(),
    async close() {
      relay.rest.close();
      const late = setTimeout(() => givingUp.abort(new Error("the process ends")), FAREWELL_MS);
      await Promise.all([done, upkeep.close()]);
      clearTimeout(late);
    },
  };
}

async function runUntilClosed(relay: Relay): Promise<void> {
  const { db, log, rest } = relay;
  for (let pauseMs = FIRST_PAUSE_MS; !rest.closed; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const startedMs = performance.now();
    try {
      await db.dedicated((connection) => relayOver(relay, connection));
    } catch (error) {
      log.warn({ err: error }, "the outbox relay was interrupted and will start again");
      if (performance.now() - startedMs > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      await rest.sleepUnwoken(pauseMs);
    }
  }
}

async function relayOver(relay: Relay, connection: Queryable): Promise<void> {
  const { db, log, rest, pollMs } = relay;
  await prepareRelaySession(connection);
  while (!rest.closed && !(await tryLockRelay(connection, db.schema))) await rest.sleepUnwoken(pollMs);
  if (rest.closed) return;
  relay.expander.begin();
  const doorbell = doorbellOf(db);
  const wakeRelay = (): void => rest.wake();
  const listener = await db.listen(outboxChannel(db.schema), wakeRelay);
  doorbell.wakeRelay = wakeRelay;
  log.info({ schema: db.schema }, "outbox relay active");
  try {
    await publishUntilClosed(relay, connection);
  } finally {
    if (doorbell.wakeRelay === wakeRelay) delete doorbell.wakeRelay;
    await listener.close();
  }
}

async function publishUntilClosed(relay: Relay, connection: Queryable): Promise<void> {
  const { rest, pollMs } = relay;
  let failures = 0;
  let start = readingStart();
  let nextFullReadMs = 0;
  while (!rest.closed) {
    if (performance.now() >= nextFullReadMs) {
      start = readingStart();
      nextFullReadMs = performance.now() + pollMs;
    }
    const readMs = performance.now();
    const { all, full, events } = await publishPending(relay, connection, start);
    if (!all) {
      failures += 1;
      await rest.sleepUnwoken(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)));
      continue;
    }
    failures = 0;
    if (full) continue;
    await rest.sleep(Math.max(1, nextFullReadMs - performance.now()));
    const intervalMs = events < BUSY_EVENTS ? LEAST_INTERVAL_MS : BUSY_INTERVAL_MS;
    await rest.sleepUnwoken(Math.max(0, readMs + intervalMs - performance.now()));
  }
}

/**
 * What was read is let go before anybody waits, and each list of it is emptied: what lives as long as a pause is moved to V8's old generation, of which each
 * batch then filled a part, and V8 may keep what a function was about for that long after it has ended.
 */
async function publishPending(
  relay: Relay,
  connection: Queryable,
  start: ReadingStart,
): Promise<{ all: boolean; full: boolean; events: number }> {
  const rows = await readPending(connection, start.afterId, relay.batchSize);
  const { all, events, xid } = await publishRows(relay, connection, rows);
  if (all) start.advance(rows, xid);
  const full = rows.length === relay.batchSize;
  rows.length = 0;
  return { all, full, events };
}

interface ReadingStart {
  readonly afterId: bigint;
  advance: (rows: PendingRow[], xid: bigint | undefined) => void;
}

/**
 * Where the next read may start, so that it does not walk over all the rows that are done and not yet vacuumed. An id is passed only when
 * every transaction that could have taken a lower one had ended before the last read: otherwise an event that commits late would be passed
 * by its aggregate's next one. Ids are taken by transactions that already have their number, since they hold the aggregate's row lock.
 */
function readingStart(): ReadingStart {
  let afterId = 0n;
  let next: { id: bigint; xid: bigint } | undefined;
  return {
    get afterId() {
      return afterId;
    },
    advance(rows, xid) {
      const last = rows.at(-1);
      if (!last || xid === undefined) return;
      if (next && last.horizon > next.xid) {
        afterId = next.id < last.id ? next.id : last.id;
        next = undefined;
      }
      next ??= { id: last.id, xid };
    },
  };
}

/**
 * In pieces of a bounded size, since one row may stand for many events. What the bus has is marked before the next piece is tried. Tells
 * whether all went, how many events that were, and the transaction that marked last.
 */
async function publishRows(
  relay: Relay,
  connection: Queryable,
  rows: PendingRow[],
): Promise<{ all: boolean; events: number; xid?: bigint | undefined }> {
  let count = 0;
  const events: OutboxRow[] = [];
  let ids: bigint[] = [];
  let xid: bigint | undefined;
  for (const [index, row] of rows.entries()) {
    if (row.there) events.push(...(await relay.expander.expand(connection, row)));
    ids.push(row.id);
    if (events.length < relay.batchSize && index < rows.length - 1) continue;
    await failpoint("outbox.publishing");
    if (!(await publish(relay, events))) return { all: false, events: count };
    await failpoint("outbox.published");
    xid = await markPublished(connection, ids);
    relay.metrics.published(events);
    count += events.length;
    events.length = 0;
    ids = [];
  }
  return { all: true, events: count, xid };
}

/** What was given up may have arrived, as what a process that was killed has sent: whoever comes next publishes it again, before anything newer. */
async function publish({ bus, log, metrics, givenUp }: Relay, rows: OutboxRow[]): Promise<boolean> {
  const messages = rows.map(toMessage);
  try {
    await unlessAborted(givenUp, bus.publish(messages));
    messages.length = 0;
    return true;
  } catch (error) {
    metrics.failed();
    log.warn(
      { err: error, events: rows.length },
      "the bus did not take the events; they will be published again",
    );
    return false;
  }
}

/** The header names are those of the proto's EventEnvelope. */
function toMessage(row: OutboxRow): BusMessage {
  return {
    topic: row.topic,
    key: row.aggregate_id,
    value: row.payload,
    headers: {
      event_id: uuidToId("evt", row.event_id),
      event_type: row.type,
      aggregate_id: row.aggregate_id,
      version: row.version.toString(),
      occurred_at: row.occurred_at.toISOString(),
      org_id: row.org_id,
      traceparent: row.traceparent,
      request_id: row.request_id,
    },
  };
}
