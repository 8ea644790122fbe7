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
import { noteServed } from "../store/settlementQueues";

/** Enough to fill the transactions that may be under way, and not more: what is planned can no longer be overtaken. */
const PLANNED_AHEAD = 4_000;
/** Below it there is enough to send; to look for a few more costs as much as to look for many. */
const LEAST_ROOM = 1_000;
const MOST_QUEUES = 100;
/** So many operations of one queue are planned before another queue has its turn. */
const LEAST_SHARE = 20;
const MAX_ROUNDS = 10;

/** How much more may be planned; nothing while there is enough to send. */
export async function roomToPlan(db: Queryable): Promise<number> {
  const room = PLANNED_AHEAD - (await countPlannedOperations(db));
  return room < LEAST_ROOM ? 0 : room;
}

/** R1: gives waiting operations their turn, queue by queue. False if there was none to plan. */
export async function planOperations(db: Database, lease: Lease): Promise<boolean> {
  return tx(db, async (tx) => {
    await lockPlanning(tx, lease);
    let room = await roomToPlan(tx);
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
    // Last, as it locks rows that the heads' consumer writes.
    await noteServed(tx, [...served]);
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
