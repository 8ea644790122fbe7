import { type Database, tx } from "@wonrail/kit/db";
import * as velocity from "../store/velocity";

/** Hours that no limit looks at any more. */
export function deleteOldVelocity({ db }: { db: Database }): Promise<number> {
  return tx(db, (tx) => velocity.deleteOldVelocity(tx));
}
