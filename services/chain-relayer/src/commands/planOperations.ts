import { type Database, tx } from "@wonrail/kit/db";
import { countPlannedOperations, markPlanned, takeReadyOperations } from "../store/operations";
import { movePast } from "../store/places";
import { fence, type Lease } from "../store/transactions";

/** Enough to fill the transactions that may be under way, and not more: what is planned can no longer be overtaken. */
const PLANNED_AHEAD = 2_000;
const PER_LANE = 200;
const MAX_ROUNDS = 50;

/** R1: gives operations whose accounts have come to them their turn, lane by lane, and moves the accounts on. */
export async function planOperations(db: Database, lease: Lease): Promise<void> {
  await tx(db, async (tx) => {
    await fence(tx, lease);
    let planned = await countPlannedOperations(tx);
    for (let round = 0; round < MAX_ROUNDS && planned < PLANNED_AHEAD; round += 1) {
      const ready = await takeReadyOperations(tx, PLANNED_AHEAD - planned, PER_LANE);
      if (ready.length === 0) return;
      await markPlanned(tx, ready);
      await movePast(tx, ready);
      planned += ready.length;
    }
  });
}
