import { type Database, tx } from "@wonrail/kit/db";
import { lockPaymentManagers, takeIntoUse } from "../store/paymentManagers";

/**
 * A database begins with the payment manager that it is given, and takes no other for its own until an operator has said so: what one of which it knows
 * nothing mints would be deposits, and what another has minted would be minted again.
 */
export async function knowPaymentManager(db: Database, address: string): Promise<void> {
  await tx(db, async (tx) => {
    const known = await lockPaymentManagers(tx);
    if (known.length === 0) return takeIntoUse(tx, address);
    if (!known.includes(address.toLowerCase()))
      throw new Error(
        `PAYMENT_MANAGER_ADDRESS is ${address}, and what this database has settled went through ${known.at(-1)}: ` +
          `start with that one, and have the other one adopted (admin.mjs manager adopt)`,
      );
  });
}
