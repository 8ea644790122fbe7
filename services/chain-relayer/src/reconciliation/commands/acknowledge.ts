import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { acknowledgeDrifts } from "../store/drifts";

/** Lets the outflow of a wallet continue after an examination. Returns the number of drifts. */
export function acknowledge(
  { db }: { db: Database },
  which: { walletId: string } | { driftId: bigint },
  operator: ActingOperator,
): Promise<number> {
  return tx(db, async (tx) => {
    const acknowledged = await acknowledgeDrifts(tx, which, operator.name);
    const subject = "walletId" in which ? which.walletId : `drift ${which.driftId}`;
    if (acknowledged > 0) await recordOperatorAction(tx, operator, { subject, details: { acknowledged } });
    return acknowledged;
  });
}
