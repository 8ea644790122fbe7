import fc from "fast-check";
import { newId } from "@wonrail/kit/contract/ids";
import { chargeOf } from "../domain/testing/requests";
import { soundLedger, startTestLedger, transferOf } from "../commands/testing/ledger";
import { addOldMonths, detachOldestMonth } from "../commands/testing/oldMonths";
import { getBalanceAt } from "./getBalanceAt";
import { getBalances } from "./getBalances";
import { type EntryRange, type PeriodQuery, readStatement } from "./readStatement";

const ledger = soundLedger();
const pause = () => new Promise((resolve) => setTimeout(resolve, 3));
const inAMinute = () => Date.now() + 60_000;

/** A moment apart from all lines. */
async function mark(): Promise<number> {
  await pause();
  const nowMs = Date.now();
  await pause();
  return nowMs;
}

function read(query: Partial<PeriodQuery> & Pick<PeriodQuery, "accountId">) {
  const all = { orgId: ledger.orgId, fromMs: 0, toMs: inAMinute(), entries: null, after: null, limit: 1_000 };
  return readStatement(ledger.database.db, { ...all, ...query });
}

/** Reads all pages of a statement. */
async function readAll(query: Parameters<typeof read>[0]) {
  const first = await read(query);
  const { entries, openingWon, closingWon } = first;
  const amounts: bigint[] = [];
  for (let page = first; ; page = await read({ ...query, entries, after: lastOf(page) })) {
    expect(page).toMatchObject({ entries, openingWon, closingWon });
    for (const { posting } of page.lines) {
      amounts.push(posting.amountWon);
      expect(posting.balanceAfterWon).toBe(sum([openingWon, ...amounts]));
    }
    if (!page.hasMore) return { entries, openingWon, closingWon, amounts };
  }
}

const lastOf = ({ lines }: Awaited<ReturnType<typeof read>>) => lines.at(-1)!.posting.sequence;
const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

test("opening balance and movements are the closing balance for any period and page size", async () => {
  const wallets = await Promise.all([1, 2, 3].map(() => ledger.open(undefined, "NORMAL", 50_000n)));
  const marks = [0, await mark()];
  for (let round = 0; round < 12; round += 1) {
    const [payer, payee] = [wallets[round % 3]!, wallets[(round * 2 + 1) % 3]!];
    if (payer !== payee) await ledger.post(transferOf(payer, payee, BigInt(100 + round)));
    await Promise.all(wallets.map((wallet) => ledger.post(chargeOf(wallet, BigInt(1_000 + round)))));
    marks.push(await mark());
  }
  const place = fc.nat(marks.length - 1);
  await fc.assert(
    fc.asyncProperty(place, place, fc.integer({ min: 1, max: 9 }), async (one, other, limit) => {
      const [fromMs, toMs] = [marks[Math.min(one, other)]!, marks[Math.max(one, other)]!];
      for (const accountId of wallets) {
        const balanceAt = (atMs: number) =>
          getBalanceAt(ledger.database.db, { orgId: ledger.orgId, accountId, atMs });
        const { openingWon, closingWon, amounts } = await readAll({ accountId, fromMs, toMs, limit });
        expect([openingWon, closingWon]).toEqual([await balanceAt(fromMs), await balanceAt(toMs)]);
        expect(openingWon + sum(amounts)).toBe(closingWon);
      }
    }),
    { numRuns: 40 },
  );
  for (const { id: accountId, balanceWon } of await getBalances(ledger.database.db, ledger.orgId, wallets))
    expect((await readAll({ accountId })).closingWon).toBe(balanceWon);
});

test("adjoining periods repeat no line and omit none", async () => {
  const wallet = await ledger.open();
  const marks = [await mark()];
  for (const amount of [1_000n, 2_000n, 3_000n]) {
    await ledger.post(chargeOf(wallet, amount));
    marks.push(await mark());
  }
  const periods = await Promise.all(
    [0, 1, 2].map((index) => readAll({ accountId: wallet, fromMs: marks[index]!, toMs: marks[index + 1]! })),
  );
  expect(periods.map(({ amounts }) => amounts)).toEqual([[1_000n], [2_000n], [3_000n]]);
});

test("no statement of a report has an entry that commits while the report is read", async () => {
  const [payer, payee] = [await ledger.open(undefined, "NORMAL", 1_000n), await ledger.open()];
  const first = await read({ accountId: payer, limit: 1 });
  await ledger.post(transferOf(payer, payee, 100n));
  const { entries }: { entries: EntryRange } = first;
  const later = await read({ accountId: payer, entries, after: lastOf(first) });
  expect(later).toMatchObject({ lines: [], closingWon: 1_000n, hasMore: false });
  expect(await read({ accountId: payee, entries })).toMatchObject({ lines: [], closingWon: 0n });
  expect(await read({ accountId: payee })).toMatchObject({ lines: [{}], closingWon: 100n });
});

test("a period without lines has the same balance at both ends", async () => {
  const accountId = await ledger.open(undefined, "NORMAL", 1_000n);
  const nowMs = await mark();
  const empty = { lines: [], hasMore: false };
  const balances = (won: bigint) => ({ ...empty, openingWon: won, closingWon: won });
  expect(await read({ accountId, fromMs: nowMs, toMs: nowMs })).toMatchObject(balances(1_000n));
  expect(await read({ accountId, fromMs: 0, toMs: 1 })).toMatchObject(balances(0n));
});

test("another organisation's account is absent", async () => {
  const accountId = await ledger.open();
  await expect(read({ accountId, orgId: newId("org") })).rejects.toMatchObject({ code: "WAL_002" });
});

test("a period before the kept months is refused once a month has left", async () => {
  const old = await startTestLedger();
  try {
    const windowFromMs = await addOldMonths(old.database.ownerUrl);
    const accountId = await old.open();
    const post = (requestMs: number) =>
      old.post(chargeOf(accountId, 1_000n), { requestId: newId("opn", requestMs) });
    await post(windowFromMs + 1);
    await post(Date.now());
    const query = { orgId: old.orgId, accountId, toMs: inAMinute(), entries: null, after: null, limit: 10 };
    const readFrom = (fromMs: number) => readStatement(old.database.db, { ...query, fromMs });
    expect(await readFrom(0)).toMatchObject({ openingWon: 0n, closingWon: 2_000n });
    await detachOldestMonth(old.database.ownerUrl);
    await expect(readFrom(windowFromMs)).rejects.toMatchObject({
      code: "REQ_001",
      details: { fields: [{ path: "from" }] },
    });
    expect(await readFrom(Date.now())).toMatchObject({ lines: [], openingWon: 2_000n, closingWon: 2_000n });
  } finally {
    await old.close();
  }
});
