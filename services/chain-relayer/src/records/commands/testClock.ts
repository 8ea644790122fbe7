import { hasSandbox } from "@wonrail/kit/contract/networks";
import { type SandboxClock } from "@wonrail/kit/contract/sandboxClock";
import { type Database, type Queryable, tx, type Tx } from "@wonrail/kit/db";
import { advanceClock, findOffsetMs, lockOffsetMs } from "@wonrail/kit/sandboxClocks";
import { moveSchedules } from "../store/records";

interface ClockDeps {
  chain: { network: string };
}

/** Moves the clock forward, and the waiting records that it reaches become due. */
export function setClock({ db }: { db: Database }, clock: SandboxClock): Promise<void> {
  return tx(db, async (tx) => {
    if ((await advanceClock(tx, clock)) > 0) await moveSchedules(tx, clock.orgId, clock.offsetMs);
  });
}

/** How far the organisation's test clock is ahead. 0 on a main network. */
export async function findClockOffset(db: Queryable, { chain }: ClockDeps, orgId: string): Promise<number> {
  return hasSandbox(chain.network) ? findOffsetMs(db, orgId) : 0;
}

/** The same, and the clock stays until the transaction ends. */
export async function lockClockOffset(tx: Tx, { chain }: ClockDeps, orgId: string): Promise<number> {
  return hasSandbox(chain.network) ? lockOffsetMs(tx, orgId) : 0;
}
