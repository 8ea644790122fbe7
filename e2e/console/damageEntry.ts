import { type Database, sql } from "@wonrail/kit/db";
import { type Stack } from "@wonrail/local/stackFile";
import { asAdmin } from "../support/asAdmin";

/**
 * Damages the address of a hold in the ledger's journal, as a failing disk could. Returns the
 * repair.
 */
export async function damageHoldAddress(stack: Stack, address: string): Promise<() => Promise<void>> {
  const { stored } = await asAdmin(stack, "ledger", (db) =>
    db.one<{ stored: string }>(sql`
      select detail #>> '{hold,1}' as stored from entries
      where lower(detail #>> '{hold,1}') = ${address.toLowerCase()}`),
  );
  // The checksum is the case of the letters.
  const damaged = stored.replace(/[a-f](?!.*[a-f])/, (letter) => letter.toUpperCase());
  await asAdmin(stack, "ledger", (db) => replaceAddress(db, stored, damaged));
  return () => asAdmin(stack, "ledger", (db) => replaceAddress(db, damaged, stored));
}

async function replaceAddress(db: Database, from: string, to: string): Promise<void> {
  await db.run(sql`
    update entries set detail = jsonb_set(detail, '{hold,1}', to_jsonb(${to}::text))
    where detail #>> '{hold,1}' = ${from}`);
}
