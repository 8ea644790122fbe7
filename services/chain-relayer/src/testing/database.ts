import { join } from "node:path";
import { type Database, sql } from "@wonrail/kit/db";
import { createTestDatabase, eventually, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { assertPaymentManagerAdopted } from "../settlement/commands/assertPaymentManagerAdopted";
import { PAYMENT_MANAGER } from "./chainDouble";

/** Gives each test of a file its own database, which starts with the double's payment manager. */
export function freshDatabase(): { readonly db: Database; readonly ownerUrl: string } {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase({
      schema: "chain_relayer",
      migrations: join(__dirname, "../../migrations"),
    });
    await assertPaymentManagerAdopted(database.db, PAYMENT_MANAGER);
  });
  afterEach(() => database.drop());
  return {
    get db() {
      return database.db;
    },
    get ownerUrl() {
      return database.ownerUrl;
    },
  };
}

/** Updates PostgreSQL's statistics of a table, which only its owner may. */
export async function analyze({ ownerUrl }: { ownerUrl: string }, table: string): Promise<void> {
  const owner = openTestDatabase(ownerUrl, "chain_relayer", { max: 1 });
  await owner.run(sql`analyze ${sql.identifier(table)}`);
  await owner.close();
}

/** Returns when a transaction waits for a lock. */
export function untilSomebodyWaits(db: Database): Promise<void> {
  const check = async () => {
    const waiting = await db.query(sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    if (waiting.length === 0) throw new Error("nobody waits for a lock");
  };
  return eventually(check, { timeoutMs: 8_000 });
}
