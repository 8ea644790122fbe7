import { sql, type Database } from "../db";

/** Notifications beyond one in so many milliseconds and process would tell the relay nothing new. */
const NOTIFY_EVERY_MS = 20;

interface Doorbell {
  /** Set while this process has the active relay of the schema. */
  wakeRelay?: () => void;
  pause?: "quiet" | "rung";
}

const doorbells = new WeakMap<Database, Doorbell>();

/**
 * Tells the schema's relay that there is something to publish: by a plain call when it runs in this process, by NOTIFY otherwise. The
 * NOTIFY is a statement of its own after the commit, because inside the writing transaction it would take a lock of the whole cluster and
 * hold it over the commit's fsync, so that no two commits could share one. If it gets lost, the relay's poll finds the event.
 */
export function ring(db: Database): void {
  const doorbell = doorbellOf(db);
  if (doorbell.wakeRelay) doorbell.wakeRelay();
  else if (doorbell.pause === undefined) notify(db, doorbell);
  else doorbell.pause = "rung";
}

export function doorbellOf(db: Database): Doorbell {
  let doorbell = doorbells.get(db);
  if (!doorbell) doorbells.set(db, (doorbell = {}));
  return doorbell;
}

export function outboxChannel(schema: string): string {
  return `${schema}_outbox`;
}

function notify(db: Database, doorbell: Doorbell): void {
  doorbell.pause = "quiet";
  const after = (): void => {
    const rungAgain = doorbell.pause === "rung";
    delete doorbell.pause;
    if (rungAgain) ring(db);
  };
  db.run(sql`select pg_notify(${outboxChannel(db.schema)}, '')`)
    .catch(() => undefined)
    .finally(() => setTimeout(after, NOTIFY_EVERY_MS).unref());
}
