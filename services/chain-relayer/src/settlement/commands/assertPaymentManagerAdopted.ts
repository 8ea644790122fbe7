import { type Database, tx } from "@wonrail/kit/db";
import { findCursor, forgetPaymentManagers, lockPaymentManagers, takeIntoUse } from "../../indexer";

/**
 * A database begins with the payment manager that it is given, and once it has taken in a block takes no other for its own until an operator has said so:
 * what one of which it knows nothing mints would be deposits, and what another has minted would be minted again.
 */
export async function assertPaymentManagerAdopted(db: Database, address: string): Promise<void> {
  await tx(db, async (tx) => {
    const known = await lockPaymentManagers(tx);
    if (known.includes(address.toLowerCase())) return;
    if (known.length > 0 && (await findCursor(tx)))
      throw new Error(
        `PAYMENT_MANAGER_ADDRESS is ${address}, which this database does not know: it has settled through ${known.at(-1)}. ` +
          'See "Replace the payment manager" in the guide to the chart, and "Back up and restore" after a restore',
      );
    // The one before was a mistake, which nothing came of.
    await forgetPaymentManagers(tx);
    await takeIntoUse(tx, address);
  });
}
