import { type Queryable } from "@wonrail/kit/db";
import { findCursor } from "../../indexer";
import { countOpenDrifts, type Drift, findReconciliation, listDrifts } from "../../reconciliation";
import { countPausedQueues, listStuckOperations, type OpenOperation } from "../../settlement";
import { findObstacles } from "../domain/obstacles";
import { findRestore, type Restore } from "../store/restores";

/** A restore with everything that operators must look at before it ends. */
export interface RestoreView {
  /** Null while none is under way. */
  restore: Restore | null;
  readBlock: bigint | null;
  comparedBlock: bigint | null;
  pausedQueues: number;
  differences: Drift[];
  undecided: OpenOperation[];
  obstacles: string[];
}

const EVERY_AGE = { olderThanSeconds: 0, orgId: null, isUndecided: true };
const MOST_UNDECIDED = 10_000;

export async function getRestore(db: Queryable, limit: number): Promise<RestoreView> {
  const [restore, cursor, { blockNumber }, pausedQueues, differences, undecided] = await Promise.all([
    findRestore(db),
    findCursor(db),
    findReconciliation(db),
    countPausedQueues(db),
    listDrifts(db, { all: false, limit }),
    listStuckOperations(db, { ...EVERY_AGE, limit }),
  ]);
  return {
    restore: restore ?? null,
    readBlock: cursor?.blockNumber ?? null,
    comparedBlock: blockNumber,
    ...{ pausedQueues, differences, undecided },
    obstacles: restore ? await findObstaclesOf(db, restore) : [],
  };
}

/** The reasons why the restore cannot end yet. */
export async function findObstaclesOf(db: Queryable, restore: Restore): Promise<string[]> {
  const { blockNumber, finishedAt } = await findReconciliation(db);
  const drifts = await countOpenDrifts(db);
  const undecided = await listStuckOperations(db, { ...EVERY_AGE, limit: MOST_UNDECIDED });
  return findObstacles({
    finalBlock: restore.finalBlock,
    preparedAt: restore.preparedAt,
    comparedBlock: blockNumber,
    comparedAt: finishedAt,
    openDrifts: drifts.reduce((sum, { count }) => sum + count, 0),
    undecided: undecided.length,
  });
}
