import { rawSql, sql, tx } from "@wonrail/kit/db";
import { hexOf, newId } from "@wonrail/kit/contract/ids";
import { Registry } from "@wonrail/kit/metrics";
import { openTestDatabase, testLog } from "@wonrail/kit/testing";
import { createViolationsGauge } from "../metrics/violationsGauge";
import { createPostedLate } from "../store/postedLate";
import { startTestLedger, transferOf, type TestLedger } from "./testing/ledger";
import { verifyAlways } from "./verifyAlways";

const MINUTE_MS = 60_000;

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await startTestLedger();
});
afterAll(() => ledger.close());

test("what another replica posted is found after the database's clock was set back, late or not", async () => {
  await breakEntries([2, 7]);
  // As if the round before had been an hour from now.
  const { verify, found } = verifying(Date.now() + 60 * MINUTE_MS);
  await verify();
  expect(await found()).toBe(2);
});

test("a transaction that began before the round before, and writes in this one, has nothing read twice", async () => {
  const { verify, found } = verifying(Date.now());
  const other = openTestDatabase(ledger.database.url, "ledger");
  await tx(other, async (open) => {
    await open.run(sql`select 1`);
    await verify();
    await breakEntries([2]);
    await open.one(sql`select pg_current_xact_id()::text as written`);
    await verify();
  });
  await other.close();
  expect(await found()).toBe(0);
});

function verifying(sinceMs: number) {
  const registry = new Registry();
  const gauge = createViolationsGauge({ log: testLog(), registry });
  const { db } = ledger.database;
  const verify = verifyAlways({ db, gauge, late: createPostedLate(1), sinceMs });
  return {
    verify: () => verify(new AbortController().signal),
    found: async () =>
      Number(/\{invariant="I2_entry_balance",scope="touched"\} (\d+)/.exec(await registry.metrics())![1]),
  };
}

/** Entries of so many minutes ago, of each of which a posting is not there. */
async function breakEntries(minutesAgo: number[]): Promise<void> {
  const [from, to] = [await ledger.open("kim", "NORMAL", 100n), await ledger.open("lee", "NORMAL")];
  const requestIds = minutesAgo.map((minutes) => newId("opn", Date.now() - minutes * MINUTE_MS));
  for (const requestId of requestIds) await ledger.post(transferOf(from, to, 10n), { requestId });
  const admin = openTestDatabase(ledger.database.adminUrl, "ledger");
  const ids = requestIds.map((id) => `'${hexOf(id)}'`).join(", ");
  await admin.run(rawSql(`delete from postings where entry_id in (${ids}) and amount_won > 0`));
  await admin.close();
}
