import { type Database, type Queryable, tx, type Tx } from "@wonrail/kit/db";
import { type Lease, lockPlanning } from "../../sender";
import { planQueue } from "../domain/planQueue";
import {
  countPlannedOperations,
  listQueue,
  listQueuesToPlan,
  markHeldUp,
  markPlanned,
} from "../store/plannedOperations";
import { recordServed } from "../store/settlementQueues";

/**
 * Enough to fill the open transactions, and not more, because planned operations keep their order.
 */
const PLANNED_AHEAD = 4_000;
/** Less room is not worth a look: planning few costs as much as planning many. */
const LEAST_ROOM = 1_000;
const MOST_QUEUES = 100;
/** Operations planned of one queue before the next queue's turn. */
const LEAST_SHARE = 20;
const MAX_ROUNDS = 10;

/** Number of operations that may still be planned; 0 while there is enough to send. */
export async function findPlanningRoom(db: Queryable): Promise<number> {
  const room = PLANNED_AHEAD - (await countPlannedOperations(db));
  return room < LEAST_ROOM ? 0 : room;
}

/** R1: plans waiting operations queue by queue. Returns false without work. */
export async function planOperations(db: Database, lease: Lease): Promise<boolean> {
  return tx(db, async (tx) => {
    await lockPlanning(tx, lease);
    let room = await findPlanningRoom(tx);
    let found = false;
    const served = new Set<string>();
    for (let round = 0; round < MAX_ROUNDS && room > 0; round += 1) {
      const queues = await listQueuesToPlan(tx, MOST_QUEUES);
      const share = Math.max(LEAST_SHARE, Math.ceil(room / Math.max(queues.length, 1)));
      let planned = 0;
      for (const orgId of queues) {
        if (planned >= room) break;
        planned += await planOne(tx, orgId, Math.min(share, room - planned));
        served.add(orgId);
      }
      if (planned === 0) break;
      found = true;
      room -= planned;
    }
    // Last, because it locks rows that the head consumer writes.
    await recordServed(tx, [...served]);
    return found;
  });
}

async function planOne(tx: Tx, orgId: string, room: number): Promise<number> {
  const { planned, heldUp } = planQueue(await listQueue(tx, orgId), room);
  if (planned.length > 0) await markPlanned(tx, planned);
  await markHeldUp(
    tx,
    heldUp.filter((one) => !one.isBlocked && !one.isHeldUp),
  );
  return planned.length;
}
