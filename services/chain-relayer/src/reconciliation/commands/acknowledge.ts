import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { acknowledgeDrifts, type Drift } from "../store/drifts";

/** Lets the outflow of a wallet continue after an examination. Returns the number of drifts. */
export function acknowledge(
  { db }: { db: Database },
  which: { walletId: string } | { driftId: bigint },
  operator: ActingOperator,
): Promise<number> {
  return tx(db, async (tx) => {
    const drifts = await acknowledgeDrifts(tx, which, operator.name);
    if (drifts.length === 0) return 0;
    const subject = "walletId" in which ? which.walletId : `drift ${which.driftId}`;
    const details = { acknowledged: drifts.length };
    await recordOperatorAction(tx, operator, {
      ...ofOneOrganisation(drifts),
      subject,
      effect: effectOf(drifts),
      details,
    });
    return drifts.length;
  });
}

function ofOneOrganisation([first]: Drift[]): { orgId?: string } {
  return first === undefined || first.orgId === "" ? {} : { orgId: first.orgId };
}

/** Names each difference: a new one makes it another effect. Differences do not change with the balance. */
function effectOf(drifts: Drift[]): string {
  const differences = drifts
    .map(
      ({ driftId, kind, expected, actual }) => `drift ${driftId} (${kind}, ${actual - expected} token units)`,
    )
    .sort();
  return `Acknowledge ${differences.join(", ")}. The money that this stopped moves again.`;
}
