import { type Database, tx } from "@wonrail/kit/db";
import * as velocity from "../store/velocity";

const AT_ONCE = 5_000;

export async function deleteOldVelocity({ db }: { db: Database }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const deleted = await tx(db, (tx) => velocity.deleteOldVelocity(tx, AT_ONCE));
    if (deleted < AT_ONCE) return;
  }
}
