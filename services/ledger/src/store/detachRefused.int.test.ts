import { rawSql, sql, tx } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { eventually, openTestDatabase } from "@wonrail/kit/testing";
import {
  codeOf,
  DAILY_LIMIT,
  postTo,
  requestOf,
  startTestLedger,
  type TestLedger,
} from "../commands/testing/ledger";
import { addOldMonths } from "../commands/testing/oldMonths";
import { readJournalWindow } from "./partitions";

const DAY_MS = 24 * 3_600_000;
let ledger: TestLedger;
let owner: ReturnType<typeof openTestDatabase>;

beforeEach(async () => {
  ledger = await startTestLedger();
  owner = openTestDatabase(ledger.database.ownerUrl, "ledger");
});
afterEach(async () => {
  await owner.close();
  await ledger.close();
});

const detach = () => owner.query(sql`select detach_oldest_journal_partition()`);

test("a month that ended less than 62 days ago stays attached", async () => {
  const before = await readJournalWindow(ledger.database.db);
  await expect(detach()).rejects.toThrow(/the month \d{4}_\d\d ended less than 62 days ago/);
  expect(await readJournalWindow(ledger.database.db)).toEqual(before);
});

test("the current month stays attached", async () => {
  await owner.run(rawSql("delete from journal_partitions where until_at <= now()"));
  await expect(detach()).rejects.toThrow(/the month \d{4}_\d\d is not over yet/);
});

test("a month with an open hold stays attached until the hold ends, and the refusal names the hold", async () => {
  const fromMs = await addOldMonths(ledger.database.ownerUrl);
  const walletId = await ledger.open("kim", "NORMAL", 1_000n);
  const requestId = newId("trf", fromMs + DAY_MS);
  const intent = {
    kind: "placeHold",
    walletId,
    amountWon: won(500n),
    dailyLimitWon: DAILY_LIMIT,
    toAddress: `0x${"a".repeat(40)}`,
  } as const;
  const post = (request: ReturnType<typeof requestOf>) => postTo(ledger.engine, request);
  expect(codeOf(await post(requestOf(ledger.orgId, intent, { requestId })))).toBe("posted");
  await expect(detach()).rejects.toThrow(new RegExp(`1 open holds, the oldest is ${requestId}`));
  expect((await readJournalWindow(ledger.database.db)).fromMs).toBe(fromMs);

  const settled = { requestId: newId("trf", fromMs + DAY_MS) };
  const posted = requestOf(ledger.orgId, { kind: "postHold", holdRequestId: requestId }, settled);
  expect(codeOf(await post(posted))).toBe("posted");
  await expect(detach()).rejects.toThrow(/has 2 entries whose events are not published yet/);
  await owner.run(sql`delete from outbox_pending`);
  await detach();
  expect((await readJournalWindow(ledger.database.db)).fromMs).toBeGreaterThan(fromMs);
  expect(await ledger.violations()).toEqual([]);
});

test("a detach waits for a writer of the month, whose hold then keeps the month", async () => {
  const { database } = ledger;
  const fromMs = await addOldMonths(database.ownerUrl);
  const [orgId, id] = [idToUuid(ledger.orgId), idToUuid(newId("trf", fromMs + DAY_MS))];
  const service = openTestDatabase(database.url, "ledger");
  let leaving: Promise<string> | undefined;
  await tx(service, async (open) => {
    await open.run(sql`
      insert into entries (org_id, id, request_prefix, kind, content_hash, posted_at, org_sequence)
      values (${orgId}::uuid, ${id}::uuid, 'trf', 1, ${id}::uuid, now(), 1)`);
    leaving = detach().then(
      () => "left",
      (error: Error) => error.message,
    );
    await eventually(async () => {
      const waiting = await database.db.query(sql`
        select from pg_locks where not granted and relation = ${`entries_${await oldest()}`}::regclass`);
      expect(waiting).toHaveLength(1);
    });
    await open.run(sql`
      insert into holds (org_id, id, request_prefix, account_number, amount_won, to_address, limit_day, sequence, state, placed_at)
      values (${orgId}::uuid, ${id}::uuid, 'trf', 1, 1, '0x', 0, 0, 'open', now())`);
  });
  expect(await leaving).toMatch(/1 open holds/);
  await service.close();
});

async function oldest(): Promise<string> {
  const { name } = await owner.one<{ name: string }>(sql`select min(name) as name from journal_partitions`);
  return name;
}
