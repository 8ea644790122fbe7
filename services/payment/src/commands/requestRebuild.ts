import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { beginRebuild } from "../store/rebuilds";

/** Asks the job to rewrite all records, or joins the open rebuild. Returns its id. */
export function requestRebuild({ db }: { db: Database }, operator: ActingOperator): Promise<bigint> {
  return tx(db, async (tx) => {
    const id = await beginRebuild(tx, operator.name);
    await recordOperatorAction(tx, operator, { subject: `rebuild ${id}` });
    return id;
  });
}
