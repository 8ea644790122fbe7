import { chargeOf } from "../domain/testing/requests";
import { rawSql, sql, tx } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { eventually, openTestDatabase } from "@wonrail/kit/testing";
import { codeOf, postTo, requestOf, startTestLedger, type TestLedger } from "../commands/testing/ledger";
import { addOldMonths, detachOldestMonth, forgetPublished } from "../commands/testing/oldMonths";

const DAY_MS = 24 * 3_600_000;
let ledger: TestLedger;
let oldMs: number;

beforeEach(async () => {
  ledger = await startTestLedger();
  oldMs = (await addOldMonths(ledger.database.ownerUrl)) + DAY_MS;
});
afterEach(() => ledger.close());

type Month = "old" | "new";

/** A wallet with a line per mark: in the oldest month, or in this one. */
async function walletOf(months: Month[]): Promise<string> {
  const walletId = await ledger.open();
  for (const month of months) await charge(walletId, month);
  return walletId;
}

async function charge(walletId: string, month: Month): Promise<void> {
  const intent = chargeOf(walletId, 1_000n);
  const requestId = newId("chg", month === "old" ? oldMs : Date.now());
  expect(codeOf(await postTo(ledger.engine, requestOf(ledger.orgId, intent, { requestId })))).toBe("posted");
}

const detachOldest = () => detachOldestMonth(ledger.database.ownerUrl);

/** Deletes a line's whole entry, so that only the chain of lines can reveal it. */
async function lose(walletId: string, sequence: number): Promise<void> {
  const admin = openTestDatabase(ledger.database.adminUrl, "ledger");
  await admin.run(
    rawSql(`
      with lost as (
        select entry_id from postings p join accounts a on a.number = p.account_number
        where a.id = '${idToUuid(walletId)}' and p.sequence = ${sequence}
      ), gone as (delete from postings where entry_id in (select entry_id from lost))
      delete from entries where id in (select entry_id from lost)`),
  );
  await admin.close();
}

test.each<Month[]>([
  ["old", "old", "new"],
  ["new", "old"],
  ["new", "new", "old", "old", "new"],
  ["new", "old", "new", "old", "new", "new"],
  ["old"],
])("detached lines are no gap: %s %s %s %s %s %s", async (...months) => {
  const walletId = await walletOf(months);
  await detachOldest();
  expect(await ledger.violations()).toEqual([]);

  await charge(walletId, "new");
  expect(await ledger.violations()).toEqual([]);
});

test("consecutive detached months are no gap", async () => {
  const walletId = await walletOf(["new", "old"]);
  oldMs += 31 * DAY_MS;
  await charge(walletId, "old");
  await charge(walletId, "new");
  await detachOldest();
  await detachOldest();
  expect(await ledger.violations()).toEqual([]);
});

test("a verification waits for a month that is being detached, and then reads its detached runs", async () => {
  await walletOf(["new", "new", "old", "new"]);
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger");
  let looking: Promise<string[]> | undefined;
  await tx(owner, async (open) => {
    await forgetPublished(open);
    await open.query(sql`select detach_oldest_journal_partition()`);
    looking = ledger.violations();
    await eventually(async () => {
      const waiting = await ledger.database.db.query(sql`
        select distinct pid from pg_locks where not granted and relation in ('entries'::regclass, 'postings'::regclass)`);
      expect(waiting).toHaveLength(1);
    });
  });
  await owner.close();
  expect(await looking).toEqual([]);
});

test.each([
  ["before the detached lines", 2],
  ["behind the detached lines", 5],
  ["far from the detached lines", 7],
])("verification detects a missing line %s", async (_where, sequence) => {
  const walletId = await walletOf(["new", "new", "old", "old", "new", "new", "new", "new"]);
  await detachOldest();
  expect(await ledger.violations()).toEqual([]);

  await lose(walletId, sequence);
  const found = await ledger.violations();
  expect(found).toContainEqual(expect.stringMatching(new RegExp(`^I3_chain \\d+/${sequence + 1}:`)));
});

test("a balance that differs from the last detached line is detected", async () => {
  const walletId = await walletOf(["new", "old"]);
  await detachOldest();
  const admin = openTestDatabase(ledger.database.adminUrl, "ledger");
  await admin.run(rawSql("update accounts set balance_won = balance_won + 1 where type = 1"));
  await admin.close();
  expect(await ledger.violations()).toContainEqual(
    expect.stringContaining(`I3_balance ${idToUuid(walletId)}`),
  );
});

test("a charge may be detached before its cancellation, or with it", async () => {
  const walletId = await ledger.open();
  for (const cancelledMs of [oldMs, Date.now()]) {
    const charge = chargeOf(walletId, 1_000n);
    const chargeRequestId = newId("chg", oldMs);
    await ledger.post(charge, { requestId: chargeRequestId });
    const cancel = { kind: "cancelCharge", chargeRequestId, amountWon: null } as const;
    const requestId = newId("ccl", cancelledMs);
    expect(codeOf(await ledger.post(cancel, { requestId }))).toBe("posted");
  }
  expect(await ledger.violations()).toEqual([]);
  await detachOldest();
  expect(await ledger.violations()).toEqual([]);
});
