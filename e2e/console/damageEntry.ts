import { sql } from "@wonrail/kit/db";
import { type Stack } from "@wonrail/local/stackFile";
import { asAdmin } from "../support/asAdmin";

/** The right address with a mistyped letter: its checksum is wrong. */
function mistyped(address: string): string {
  return address.replace(/[a-f](?!.*[a-f])/, (letter) => letter.toUpperCase());
}

/**
 * Damages the address of a hold in the ledger's journal, as a failing disk could. Returns the
 * repair.
 */
export async function damageHoldAddress(stack: Stack, address: string): Promise<() => Promise<void>> {
  const replace = (from: string, to: string): Promise<void> =>
    asAdmin(stack, "ledger", async (db) => {
      const changed = await db.run(sql`
        update entries set detail = jsonb_set(detail, '{hold,1}', to_jsonb(${to}::text))
        where detail #>> '{hold,1}' = ${from}`);
      if (changed !== 1) throw new Error(`${changed} entries have the address ${from}`);
    });
  await replace(address, mistyped(address));
  return () => replace(mistyped(address), address);
}
