import { type Database, tx } from "../db";
import { dropDeadLetter, showDeadLetter } from "../inbox";
import { type ActingOperator } from "./operators";
import { refused } from "./proposalRules";
import { recordOperatorAction } from "./recordOperatorAction";

/** Gives a dead letter up. Its row stays, and the audit entry names the event. */
export function dropForOperator(
  { db }: { db: Database },
  id: bigint,
  operator: ActingOperator,
): Promise<void> {
  return tx(db, async (tx) => {
    const letter = await showDeadLetter(tx, id);
    if (!letter) throw refused("id", `there is no dead letter ${id}`);
    if (!(await dropDeadLetter(tx, id)))
      throw refused("id", `the dead letter ${id} is ${letter.state}: only a dead one can be dropped`);
    const { group, topic, partition, number, key, type, error } = letter;
    const place = { topic, partition, number: number?.toString() ?? null, key };
    const orgId = letter.headers.org_id;
    await recordOperatorAction(tx, operator, {
      ...(orgId === undefined ? {} : { orgId }),
      ...{ subject: `dead letter ${id}`, details: { group, ...place, type, error } },
    });
  });
}
