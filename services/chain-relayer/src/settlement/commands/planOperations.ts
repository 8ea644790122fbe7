import { type Database, type Queryable, tx } from "@wonrail/kit/db";
import { planBatch } from "../domain/planning";
import { countPlannedOperations, listCandidates, markPlanned } from "../store/plannedOperations";
import { noteServed } from "../store/settlementQueues";
import { findPlaces, moveHeads, sortInFresh } from "../store/places";
import { fencePlanning, type Lease } from "../../sender";

/** Enough to fill the transactions that may be under way, and not more: what is planned can no longer be overtaken. */
const PLANNED_AHEAD = 4_000;
/** Below it there is enough to send; to look for a few more costs as much as to look for many. */
const LEAST_ROOM = 1_000;
const FRESH_AT_ONCE = 5_000;
const MAX_ROUNDS = 10;

/** How much more may be planned; nothing while there is enough to send. */
export async function roomToPlan(db: Queryable): Promise<number> {
  const room = PLANNED_AHEAD - (await countPlannedOperations(db));
  return room < LEAST_ROOM ? 0 : room;
}

/** R1: gives operations whose accounts have come to them their turn, lane by lane, and moves the accounts on. False when there was none to look at. */
export async function planOperations(db: Database, lease: Lease): Promise<boolean> {
  return tx(db, async (tx) => {
    await fencePlanning(tx, lease);
    let found = (await sortInFresh(tx, FRESH_AT_ONCE)) > 0;
    let room = await roomToPlan(tx);
    for (let round = 0; round < MAX_ROUNDS && room > 0; round += 1) {
      const candidates = await listCandidates(tx, room);
      if (candidates.length === 0) return found;
      found = true;
      const { places, heads } = await findPlaces(tx, candidates);
      const withPlaces = candidates.map((operation) => ({
        operation,
        places: places.get(`${operation.orgId}|${operation.ledgerRef}`) ?? [],
      }));
      const plan = planBatch(withPlaces, heads, room);
      // Also those of which nothing could go: what is settled before its turn may wait for long, and a hundred such lanes would keep all others from theirs.
      const served = plan.planned.length < room ? candidates : plan.planned.map(({ operation }) => operation);
      await noteServed(tx, [...new Set(served.map(({ orgId }) => orgId))]);
      if (plan.planned.length === 0) return found;
      await markPlanned(
        tx,
        plan.planned.map(({ operation }) => operation),
      );
      const orgOf = new Map(
        plan.planned.flatMap(({ operation, places }) =>
          places.map(({ accountId }) => [accountId, operation.orgId]),
        ),
      );
      await moveHeads(
        tx,
        [...plan.heads].map(([accountId, nextSequence]) => ({
          orgId: orgOf.get(accountId)!,
          accountId,
          nextSequence,
        })),
      );
      room -= plan.planned.length;
    }
    return found;
  });
}
