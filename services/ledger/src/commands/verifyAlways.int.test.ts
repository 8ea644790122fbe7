import { rawSql, sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { Registry } from "@wonrail/kit/metrics";
import { openTestDatabase, testLog } from "@wonrail/kit/testing";
import { writtenUntil } from "../store/checks";
import { postTo, requestOf, startTestLedger, transferOf, type TestLedger } from "./testing/ledger";
import { lateEntries, newEntries, verifyAlways, verifySince } from "./verifyAlways";

const LATE_BY_MS = 60_000;

let ledger: TestLedger;
let from: string;
let to: string;
let startedMs: number;

beforeEach(async () => {
  startedMs = Date.now();
  ledger = await startTestLedger();
  from = await ledger.open("kim", "NORMAL", 10_000n);
  to = await ledger.open("lee", "NORMAL", 10_000n);
  await Promise.all(Array.from({ length: 300 }, () => transfer(Date.now())));
});
afterEach(() => ledger.close());

/** A transfer whose request was made then. */
async function transfer(requestedMs: number): Promise<string> {
  const request = {
    ...requestOf(ledger.orgId, transferOf(from, to, 10n)),
    requestId: newId("opn", requestedMs),
  };
  expect(await postTo(ledger.engine, request)).toMatchObject({ status: "posted" });
  return request.requestId;
}

async function behindItsBack(statement: string): Promise<void> {
  const admin = openTestDatabase(ledger.database.adminUrl, "ledger");
  await admin.run(rawSql(statement));
  await admin.close();
}

async function broken(ranges: Parameters<typeof verifySince>[1]): Promise<string[]> {
  const results = await verifySince(ledger.database.db, ranges);
  return results.filter(({ violations }) => violations.length > 0).map(({ invariant }) => invariant);
}

const lately = () => newEntries(startedMs, Date.now());
const late = () => lateEntries(Date.now() - 2 * LATE_BY_MS, Date.now());

test.each([
  [
    "an amount",
    "update postings set amount_won = amount_won + 1 where sequence = 150",
    ["I2_entry_balance", "I3_chain"],
  ],
  ["a balance", "update accounts set balance_won = balance_won + 1 where sequence > 300", ["I3_balance"]],
  ["a sequence", "update accounts set sequence = sequence + 1 where sequence > 300", ["I3_balance"]],
  ["a missing posting", "delete from postings where sequence = 200", ["I2_entry_balance", "I3_chain"]],
  [
    "the balance after a posting",
    "update postings set balance_after_won = balance_after_won + 1 where sequence = 250",
    ["I3_chain"],
  ],
  [
    "the balance after a first posting",
    "update postings set balance_after_won = balance_after_won + 1 where sequence = 1",
    ["I3_chain"],
  ],
])("finds %s among what was posted lately", async (_what, statement, invariants) => {
  expect(await broken(lately())).toEqual([]);
  await behindItsBack(statement);
  expect(await broken(lately())).toEqual(expect.arrayContaining(invariants));
});

test("what was long on its way is not among what is new, and found among what is late", async () => {
  const id = await transfer(Date.now() - LATE_BY_MS);
  await transfer(Date.now());
  expect(await broken(late())).toEqual([]);
  await behindItsBack(
    `delete from postings where entry_id = '${id.slice(4)}' and account_number = (select min(account_number) from postings where entry_id = '${id.slice(4)}')`,
  );
  expect(await broken(newEntries(Date.now() - LATE_BY_MS / 2, Date.now()))).not.toContain("I2_entry_balance");
  expect(await broken(late())).toContain("I2_entry_balance");
});

test("those that were not on their way for long are not looked at again", async () => {
  await behindItsBack(
    "update entries set posted_at = uuid_extract_timestamp(id) + interval '499 milliseconds'",
  );
  await behindItsBack("delete from postings where sequence = 200");
  expect(await broken(late())).toEqual([]);
});

test("what a transaction that is still open writes is looked at next time", async () => {
  const { db } = ledger.database;
  const beforeMs = (await writtenUntil(db)).getTime();
  const other = openTestDatabase(ledger.database.url, "ledger");
  let duringMs = 0;
  let startedMs = 0;
  await tx(other, async (open) => {
    const row = await open.one<{ started: Date }>(
      sql`select now() as started, pg_current_xact_id()::text as written`,
    );
    startedMs = row.started.getTime();
    duringMs = (await writtenUntil(db)).getTime();
  });
  await other.close();
  expect(startedMs).toBeGreaterThanOrEqual(beforeMs);
  expect(duringMs).toBe(startedMs);
  expect((await writtenUntil(db)).getTime()).toBeGreaterThan(startedMs);
});

test("a round says what it found, and the next one says it again until it is gone", async () => {
  const registry = new Registry();
  const round = verifyAlways({ db: ledger.database.db, log: testLog(), registry });
  const found = async (invariant: string) => {
    await round(new AbortController().signal);
    return new RegExp(`invariant_violations\\{invariant="${invariant}"\\} (\\d+)`).exec(
      await registry.metrics(),
    )?.[1];
  };
  expect(await found("I3_balance")).toBe("0");
  await transfer(Date.now());
  await behindItsBack("update accounts set balance_won = balance_won + 1 where sequence > 300");
  expect(await found("I3_balance")).not.toBe("0");
  expect(await found("I3_balance")).not.toBe("0");
  await behindItsBack("update accounts set balance_won = balance_won - 1 where sequence > 300");
  expect(await found("I3_balance")).toBe("0");
  expect(await found("I1_conservation")).toBe("0");
});
