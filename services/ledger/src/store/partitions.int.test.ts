import { chargeOf } from "../domain/testing/requests";
import { rawSql, sql } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { testLog } from "@wonrail/kit/testing";
import { maintainPartitions, openJournalWindow } from "../commands/maintainPartitions";
import {
  codeOf,
  messageOf,
  postTo,
  requestOf,
  startTestLedger,
  type TestLedger,
} from "../commands/testing/ledger";
import { addOldMonths, detachOldestMonth } from "../commands/testing/oldMonths";
import { readRequest } from "../commands/readRequest";
import { listStatement } from "../queries/listStatement";
import { ensurePartitions, readJournalWindow } from "./partitions";

const DAY_MS = 24 * 3_600_000;
let ledger: TestLedger;

beforeAll(async () => {
  ledger = await startTestLedger();
});
afterAll(() => ledger.close());

test("two replicas create the coming months once, ahead of time", async () => {
  const { db } = ledger.database;
  const before = await readJournalWindow(db);
  const until = before.untilMs + 40 * DAY_MS;
  const aheadMs = until - Date.now();
  const made = await Promise.all([ensurePartitions(db, aheadMs), ensurePartitions(db, aheadMs)]);
  expect(made.reduce((sum, count) => sum + count, 0)).toBe(2);
  expect((await readJournalWindow(db)).untilMs).toBeGreaterThan(until);
});

test("a replica whose clock is a year ahead creates no surplus months", async () => {
  const { db } = ledger.database;
  const window = await openJournalWindow(db);
  await maintainPartitions({ db, log: testLog(), window });
  const before = window.current();
  const clock = jest.spyOn(Date, "now").mockReturnValue(Date.now() + 365 * DAY_MS);
  await maintainPartitions({ db, log: testLog(), window });
  clock.mockRestore();
  expect(window.current()).toEqual(before);
});

test("requests of a detached month are refused, and statement and invariants still work", async () => {
  const { database, orgId, engine } = ledger;
  await addOldMonths(database.ownerUrl);
  const window = await readJournalWindow(database.db);
  const walletId = await ledger.open();
  const oldId = newId("opn", window.fromMs + DAY_MS);
  const old = requestOf(orgId, chargeOf(walletId, 1_000n), { requestId: oldId });
  expect(codeOf(await postTo(engine, old))).toBe("posted");
  const recent = requestOf(orgId, chargeOf(walletId, 500n));
  expect(codeOf(await postTo(engine, recent))).toBe("posted");
  expect(await ledger.violations()).toEqual([]);

  await detachOldestMonth(database.ownerUrl);

  const now = await readJournalWindow(database.db);
  expect(now.fromMs).toBeGreaterThan(window.fromMs);
  expect(() => readRequest(messageOf(old), now, null)).toThrow(DomainError);
  const { lines } = await listStatement(database.db, {
    orgId,
    accountId: walletId,
    types: [],
    fromMs: null,
    toMs: null,
    page: undefined,
  });
  expect(lines.map(({ posting }) => [posting.sequence, posting.balanceAfterWon])).toEqual([[2n, 1_500n]]);
  expect(await ledger.violations()).toEqual([]);
});

test("a later partition has the same grants as the others", async () => {
  const { db } = ledger.database;
  const names = await db.query<{ name: string }>(sql`select name from journal_partitions`);
  for (const { name } of names) {
    await expect(db.run(rawSql(`delete from postings_${name}`))).rejects.toThrow(/permission denied/);
    await expect(db.run(rawSql(`update entries_${name} set memo = 'x'`))).rejects.toThrow(
      /permission denied/,
    );
  }
});
