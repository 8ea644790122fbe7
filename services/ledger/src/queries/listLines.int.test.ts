import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { chargeOf } from "../domain/testing/requests";
import { startTestLedger, transferOf, type TestLedger } from "../commands/testing/ledger";
import { addOldMonths, detachOldestMonth } from "../commands/testing/oldMonths";
import { getBalanceAt } from "./getBalanceAt";
import { type LinesQuery, listLines, placeText } from "./listLines";
import { listStatement } from "./listStatement";

let ledger: TestLedger;
let kim: string;
let lee: string;
let middleMs: number;

beforeAll(async () => {
  ledger = await startTestLedger();
  [kim, lee] = [await ledger.open("kim", "NORMAL"), await ledger.open("lee", "NORMAL")];
  for (let n = 0; n < 40; n += 1) {
    if (n === 20) middleMs = await databaseNow();
    const notes = n % 4 === 0 ? { reference: `order-${n % 8}` } : {};
    await ledger.post(n % 3 === 2 ? transferOf(kim, lee, 7n) : chargeOf(kim, 1_000n), notes);
  }
});
afterAll(async () => {
  expect(await ledger.violations()).toEqual([]);
  await ledger.close();
});

/** By the clock that lines have their times from, apart from the lines before and after. */
async function databaseNow(): Promise<number> {
  await sleep(5);
  const { at } = await ledger.database.db.one<{ at: Date }>(sql`select clock_timestamp() as at`);
  await sleep(5);
  return at.getTime();
}

const ALL = {
  ...{ types: [], reference: null, fromMs: null, toMs: null, minWon: null, maxWon: null },
  ...{ oldestFirst: false, after: null, limit: 1_000 },
};

function list(query: Partial<LinesQuery>) {
  return listLines(ledger.database.db, { ...ALL, orgId: ledger.orgId, ...query });
}

/** Follows the places to the end. */
async function walk(query: Partial<LinesQuery>, limit: number): Promise<string[]> {
  const seen: string[] = [];
  for (let after: string | null = null; ;) {
    const { lines, nextAfter } = await list({ ...query, limit, after });
    seen.push(...lines.map(({ place }) => placeText(place)));
    if (nextAfter === null) return seen;
    after = nextAfter;
  }
}

test("the lines of the organisation are those of its wallets' statements", async () => {
  const { lines } = await list({});
  const keys = lines.map(({ line }) => `${line.posting.accountId} ${line.posting.sequence}`);
  const statements = await Promise.all(
    [kim, lee].map((accountId) =>
      listStatement(ledger.database.db, {
        ...{ orgId: ledger.orgId, accountId, types: [], fromMs: null, toMs: null },
        page: { limit: 100, position: undefined },
      }),
    ),
  );
  const expected = statements.flatMap((statement) =>
    statement.lines.map(({ posting }) => `${posting.accountId} ${posting.sequence}`),
  );
  expect([...keys].sort()).toEqual(expected.sort());
  expect(lines.find(({ line }) => line.posting.accountId === lee)!.line.counterpartyIds).toEqual([kim]);
});

test.each<[string, Partial<LinesQuery>, (line: Line) => boolean]>([
  ["nothing", {}, () => true],
  ["types", { types: ["TRANSFER"] }, ({ posting }) => posting.type === "TRANSFER"],
  ["a reference", { reference: "order-4" }, ({ reference }) => reference === "order-4"],
  ["a smallest amount", { minWon: won(8n) }, ({ posting }) => posting.type === "CHARGE"],
  ["a largest amount", { maxWon: won(7n) }, ({ posting }) => posting.type === "TRANSFER"],
])(
  "filtered by %s the pages of any size hold each line once, in both directions",
  async (_by, query, fits) => {
    const { lines } = await list({});
    const newestFirst = lines.filter(({ line }) => fits(line)).map(({ place }) => placeText(place));
    expect(newestFirst.length).toBeGreaterThan(3);
    for (const limit of [1, 3, 100]) {
      expect(await walk(query, limit)).toEqual(newestFirst);
      expect(await walk({ ...query, oldestFirst: true }, limit)).toEqual([...newestFirst].reverse());
    }
  },
);

type Line = Awaited<ReturnType<typeof list>>["lines"][number]["line"];

test("the ranges before and from a time split the list", async () => {
  const { lines } = await list({});
  const [before, since] = [await list({ toMs: middleMs }), await list({ fromMs: middleMs })];
  expect([...since.lines, ...before.lines]).toEqual(lines);
  expect(before.lines.every(({ line }) => line.postedAtMs < middleMs)).toBe(true);
  expect(since.lines.every(({ line }) => line.postedAtMs >= middleMs)).toBe(true);
});

test("another organisation has no lines, and an invalid place is refused", async () => {
  expect(await list({ orgId: newId("org") })).toEqual({ lines: [], nextAfter: null });
  await expect(list({ after: "1" })).rejects.toMatchObject({ code: "REQ_001" });
});

test("a balance at a time is the balance after the lines before that time", async () => {
  const at = (accountId: string, atMs: number) =>
    getBalanceAt(ledger.database.db, { orgId: ledger.orgId, accountId, atMs });
  const { lines } = await list({ toMs: middleMs });
  for (const accountId of [kim, lee]) {
    const newest = lines.find(({ line }) => line.posting.accountId === accountId)!;
    expect(await at(accountId, middleMs)).toBe(newest.line.posting.balanceAfterWon);
    expect(await at(accountId, 0)).toBe(0n);
  }
  const now = await list({});
  expect(await at(kim, Date.now() + 60_000)).toBe(
    now.lines.find(({ line }) => line.posting.accountId === kim)!.line.posting.balanceAfterWon,
  );
  await expect(at(newId("wal"), middleMs)).rejects.toMatchObject({ code: "WAL_002" });
});

test("a balance within a detached month is refused, and a later one is known", async () => {
  const own = await startTestLedger();
  try {
    const fromMs = await addOldMonths(own.database.ownerUrl);
    const wallet = await own.open("park", "NORMAL");
    await own.post(chargeOf(wallet, 5_000n), { requestId: newId("opn", fromMs + 1_000) });
    await own.post(chargeOf(wallet, 1_000n));
    await detachOldestMonth(own.database.ownerUrl);
    const at = (atMs: number) => getBalanceAt(own.database.db, { orgId: own.orgId, accountId: wallet, atMs });
    await expect(at(fromMs + 2_000)).rejects.toMatchObject({
      ...{ code: "REQ_001", details: { fields: [{ path: "at" }] } },
    });
    expect(await at(Date.now() + 60_000)).toBe(6_000n);
  } finally {
    await own.close();
  }
});
