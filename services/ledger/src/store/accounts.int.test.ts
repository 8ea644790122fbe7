import { chargeOf } from "../domain/testing/requests";
import { sql, tx } from "@wonrail/kit/db";
import { eventually, openTestDatabase } from "@wonrail/kit/testing";
import { startTestLedger, type TestLedger } from "../commands/testing/ledger";
import { findFacts, lockAccounts } from "./accounts";

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await startTestLedger();
});
afterAll(() => ledger.close());

test("accounts are locked in number order, in any order of the table", async () => {
  const { database, orgId } = ledger;
  const { db } = database;
  const ids = [await ledger.open(), await ledger.open(), await ledger.open()];
  // Moves the first account's row behind the others.
  await ledger.post(chargeOf(ids[0]!, 1_000n));
  // PostgreSQL must know that the table is small, so that it reads pages in order.
  const owner = openTestDatabase(database.ownerUrl, "ledger", { max: 1 });
  await owner.run(sql`analyze accounts`);
  await owner.close();
  const facts = new Map((await findFacts(db, [orgId], ids)).map((one) => [one.number, one]));
  const [first, ...others] = [...facts.keys()].sort((one, other) => Number(one - other));
  let locking: Promise<unknown> | undefined;
  await tx(db, async (other) => {
    await other.run(sql`select from accounts where number = ${first!} for update`);
    locking = tx(db, (tx) => lockAccounts(tx, facts));
    await eventually(async () => {
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      expect(await db.query(waiting)).toHaveLength(1);
    });
    const free = sql`select from accounts where number = any(${others}::bigint[]) for update skip locked`;
    expect(await other.query(free)).toHaveLength(2);
  });
  await locking;
});
