import { type Database } from "@wonrail/kit/db";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { ABANDONED_AFTER_MS } from "../commands/finishAbandoned";
import { countAbandonedOperations } from "../store/operations";
import { findOldestPendingSeconds } from "../store/transfers";

/** Asked of the database when they are read. One that is away must not take the other metrics with it. */
export function createGauges({ db, registry }: { db: Database; registry: Registry }): void {
  new Gauge({
    name: "payment_abandoned_operations",
    help: "Operations whose outcome has been open for longer than a request may take",
    registers: [registry],
    async collect() {
      this.set(await countAbandonedOperations(db, ABANDONED_AFTER_MS).catch(() => NaN));
    },
  });
  new Gauge({
    name: "payment_pending_transfers_oldest_seconds",
    help: "Age of the oldest transfer to an outside address that is PENDING",
    registers: [registry],
    async collect() {
      this.set(await findOldestPendingSeconds(db).catch(() => NaN));
    },
  });
}
