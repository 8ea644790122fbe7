import { rawSql } from "@wonrail/kit/db";
import { hexOf, newId } from "@wonrail/kit/ids";
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
  const [from, to] = [await ledger.open("kim", "NORMAL", 100n), await ledger.open("lee", "NORMAL")];
  const requestIds = [2, 7].map((minutes) => newId("opn", Date.now() - minutes * MINUTE_MS));
  for (const requestId of requestIds) await ledger.post(transferOf(from, to, 10n), { requestId });
  const admin = openTestDatabase(ledger.database.adminUrl, "ledger");
  const ids = requestIds.map((id) => `'${hexOf(id)}'`).join(", ");
  await admin.run(rawSql(`delete from postings where entry_id in (${ids}) and amount_won > 0`));
  await admin.close();

  const registry = new Registry();
  const gauge = createViolationsGauge({ log: testLog(), registry });
  const { db } = ledger.database;
  // As if the round before had been an hour from now.
  const sinceMs = Date.now() + 60 * MINUTE_MS;
  await verifyAlways({ db, gauge, late: createPostedLate(1), sinceMs })(new AbortController().signal);
  expect(await registry.metrics()).toContain('{invariant="I2_entry_balance",scope="touched"} 2');
});
