import { type Database, tx } from "../db";
import { replayDeadLetters } from "../inbox";
import { recordOperatorAction } from "./recordOperatorAction";
import { type ActingOperator } from "./operators";

/** Asks for a replay on behalf of an operator. Returns the number of letters. */
export function requestReplay(
  { db }: { db: Database },
  which: { id: bigint } | { group: string },
  operator: ActingOperator,
): Promise<number> {
  return tx(db, async (tx) => {
    const requested = await replayDeadLetters(tx, which);
    const subject = "id" in which ? `dead letter ${which.id}` : `dead letters of ${which.group}`;
    if (requested > 0) await recordOperatorAction(tx, operator, { subject, details: { requested } });
    return requested;
  });
}
