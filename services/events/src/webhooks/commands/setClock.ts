import { type SandboxClock } from "@wonrail/kit/contract/sandboxClock";
import { type Database, tx } from "@wonrail/kit/db";
import { advanceClock } from "@wonrail/kit/sandboxClocks";
import { moveKeys } from "../../feed";
import { moveRetries } from "../store/deliveries";

/**
 * Moves an organisation's test clock forward, and with it retries and ends of keys. A repetition
 * moves nothing.
 */
export function setClock({ db }: { db: Database }, clock: SandboxClock): Promise<void> {
  return tx(db, async (tx) => {
    const byMs = await advanceClock(tx, clock);
    if (byMs === 0) return;
    await moveRetries(tx, clock.orgId, byMs);
    await moveKeys(tx, clock.orgId, byMs);
  });
}
