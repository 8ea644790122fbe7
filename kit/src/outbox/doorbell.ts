import { sql, type Database } from "../db";

/** Shortest interval between two notifications of one process. */
const NOTIFY_EVERY_MS = 20;

/** Wakes waiting loops of a schema: in this process by a call, in the other replicas by NOTIFY. */
interface Doorbell {
  /** The loops of this process. */
  wakers: Set<() => void>;
  pause?: "quiet" | "rung";
}

/** `outbox`: events were committed. `feed`: events got their numbers. */
export type DoorbellName = "outbox" | "feed";

const doorbells = new WeakMap<Database, Record<DoorbellName, Doorbell>>();

/**
 * Notifies the schema's relay of new events. The call suffices when the relay runs in this process.
 * NOTIFY is a separate statement after the commit: inside the transaction it would hold a
 * cluster-wide lock over the commit's fsync. If it is lost, the relay's poll finds the event.
 */
export function ringOutbox(db: Database): void {
  const { wakers } = doorbellOf(db, "outbox");
  if (wakers.size === 0) return notifyOthers(db, "outbox");
  for (const wake of wakers) wake();
}

/** Notifies every replica that serves the feed of new numbers. */
export function ringFeed(db: Database): void {
  for (const wake of doorbellOf(db, "feed").wakers) wake();
  notifyOthers(db, "feed");
}

export function doorbellOf(db: Database, name: DoorbellName): Doorbell {
  let ofDatabase = doorbells.get(db);
  if (!ofDatabase)
    doorbells.set(db, (ofDatabase = { outbox: { wakers: new Set() }, feed: { wakers: new Set() } }));
  return ofDatabase[name];
}

export function channelOf(schema: string, name: DoorbellName): string {
  return `${schema}_${name}`;
}

function notifyOthers(db: Database, name: DoorbellName): void {
  const doorbell = doorbellOf(db, name);
  if (doorbell.pause !== undefined) {
    doorbell.pause = "rung";
    return;
  }
  doorbell.pause = "quiet";
  const endPause = (): void => {
    const isRungAgain = doorbell.pause === "rung";
    delete doorbell.pause;
    if (isRungAgain) notifyOthers(db, name);
  };
  db.run(sql`select pg_notify(${channelOf(db.schema, name)}, '')`)
    .catch(() => undefined)
    .finally(() => setTimeout(endPause, NOTIFY_EVERY_MS).unref());
}
