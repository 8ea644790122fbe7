import { type Database } from "@wonrail/kit/db";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { countOpenOperations } from "../store/operations";
import { findOldestPendingSeconds } from "../store/transfers";

/** Some rounds of the completer beyond a request's own time. */
const OPEN_TOO_LONG_MS = 30_000;

/** Asked of the database when they are read. */
export function createGauges({ db, registry }: { db: Database; registry: Registry }): void {
  new Gauge({
    name: "payment_abandoned_operations",
    help: "Operations that were taken on over 30 s ago and whose outcome is open, however often they were tried since; absent while not known",
    registers: [registry],
    collect() {
      return tell(this, countOpenOperations(db, OPEN_TOO_LONG_MS));
    },
  });
  new Gauge({
    name: "payment_pending_transfers_oldest_seconds",
    help: "Age of the oldest transfer to an outside address that is PENDING; absent while not known",
    registers: [registry],
    collect() {
      return tell(this, findOldestPendingSeconds(db));
    },
  });
}

/** A database that is away must not take the other metrics with it. What it cannot say has no value, since in a sum NaN would hide what other replicas know. */
function tell(gauge: Gauge, read: Promise<number>): Promise<void> {
  return read.then(
    (value) => gauge.set(value),
    () => gauge.remove(),
  );
}
