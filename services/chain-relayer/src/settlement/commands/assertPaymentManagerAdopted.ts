import { type Database, tx } from "@wonrail/kit/db";
import { findCursor, deletePaymentManagers, lockPaymentManagers, savePaymentManager } from "../../indexer";

/**
 * A database starts with the configured payment manager. After its first ingested block it accepts
 * another one only by an operator's adoption: mints of an unknown one would be deposits, and
 * mints of the other one would be repeated.
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
    // The previous one was configured by mistake and has no operation.
    await deletePaymentManagers(tx);
    await savePaymentManager(tx, address);
  });
}
