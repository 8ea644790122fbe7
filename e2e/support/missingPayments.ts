import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { asAdmin } from "./asAdmin";
import { type TestStack } from "./startStack";

const PATIENCE_MS = 120_000;

/** Waits until payment's records contain these payments. Returns the missing ids. */
export function missingPayments(stack: TestStack, ids: ReadonlySet<string>): Promise<string[]> {
  return asAdmin(stack.stack(), "payment", async (db) => {
    for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(100)) {
      const rows = await db.query<{ id: string }>(sql`
        select id from unnest(${[...ids]}::text[]) as paid (id)
        where not exists (select from payments where payment_id = paid.id)`);
      if (rows.length === 0 || Date.now() > deadline) return rows.map(({ id }) => id);
    }
  });
}
