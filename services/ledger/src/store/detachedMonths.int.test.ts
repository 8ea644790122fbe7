import { chargeOf } from "../domain/testing/requests";
import { newId } from "@wonrail/kit/contract/ids";
import { postTo, requestOf, startTestLedger, type TestLedger } from "../commands/testing/ledger";
import { addOldMonths, detachOldestMonth } from "../commands/testing/oldMonths";
import { listStatement } from "../queries/listStatement";

const DAY_MS = 24 * 3_600_000;
let ledger: TestLedger;

beforeEach(async () => {
  ledger = await startTestLedger();
});
afterEach(() => ledger.close());

/**
 * A wallet with a line per mark, in the oldest month or in this one; then detaches the oldest
 * month.
 */
async function walletOf(months: ("old" | "new")[]): Promise<string> {
  const { database, orgId, engine } = ledger;
  const fromMs = await addOldMonths(database.ownerUrl);
  const walletId = await ledger.open();
  for (const month of months) {
    const more = month === "old" ? { requestId: newId("opn", fromMs + DAY_MS) } : {};
    await postTo(engine, requestOf(orgId, chargeOf(walletId, 1_000n), more));
  }
  await detachOldestMonth(database.ownerUrl);
  return walletId;
}

test("a time range is found behind detached lines", async () => {
  const accountId = await walletOf(["old", "old", "old", "new"]);
  const list = async (fromMs: number | null, toMs: number | null) => {
    const query = { orgId: ledger.orgId, accountId, types: [], fromMs, toMs, page: undefined };
    return (await listStatement(ledger.database.db, query)).lines.map(({ posting }) => posting.sequence);
  };
  const [before, after] = [Date.now() - DAY_MS, Date.now() + DAY_MS];
  expect([await list(after, null), await list(null, after)]).toEqual([[], [4n]]);
  expect([await list(before, null), await list(null, before)]).toEqual([[4n], []]);
});

test.each([
  [false, [9n, 8n, 3n, 2n, 1n]],
  [true, [1n, 2n, 3n, 8n, 9n]],
])("a statement continues behind detached lines, oldest first: %j", async (oldestFirst, expected) => {
  const accountId = await walletOf(["new", "new", "new", "old", "old", "old", "old", "new", "new"]);
  const seen: bigint[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 9; pages += 1) {
    const position = cursor === undefined ? undefined : ({ $case: "cursor", value: cursor } as const);
    const { lines, info } = await listStatement(ledger.database.db, {
      ...{ orgId: ledger.orgId, accountId, types: [], fromMs: null, toMs: null },
      page: { limit: 2, position, oldestFirst },
    });
    seen.push(...lines.map(({ posting }) => posting.sequence));
    if (!info.hasNext) break;
    cursor = info.nextCursor;
  }
  expect(seen).toEqual(expected);
});

test.each([
  ["nnnoooonn", [9n, 8n, 3n, 2n, 1n]],
  ["onoononnno", [9n, 8n, 7n, 5n, 2n]],
  ["ooon", [4n]],
  ["nooo", [1n]],
  ["oo", []],
])("pages of %s show and count each remaining line once", async (months, left) => {
  const accountId = await walletOf([...months].map((month) => (month === "o" ? "old" : "new")));
  for (const oldestFirst of [false, true])
    for (const limit of [1, 2, 3]) {
      const seen: bigint[] = [];
      for (let value = 1; value <= months.length; value += 1) {
        const { lines, info } = await listStatement(ledger.database.db, {
          ...{ orgId: ledger.orgId, accountId, types: [], fromMs: null, toMs: null },
          page: { limit, position: { $case: "currentPage", value }, oldestFirst },
        });
        seen.push(...lines.map(({ posting }) => posting.sequence));
        expect(info).toMatchObject({ totalCount: left.length, hasNext: value * limit < left.length });
      }
      expect(seen).toEqual(oldestFirst ? [...left].reverse() : left);
    }
});

test("the count of a time range excludes only the detached lines of that range", async () => {
  const accountId = await walletOf(["old", "old", "new", "old", "new"]);
  const list = async (fromMs: number | null, toMs: number | null) => {
    const query = { orgId: ledger.orgId, accountId, types: [], fromMs, toMs, page: undefined };
    return (await listStatement(ledger.database.db, query)).info.totalCount;
  };
  const [before, after] = [Date.now() - DAY_MS, Date.now() + DAY_MS];
  expect([await list(before, after), await list(null, before), await list(after, null)]).toEqual([2, 0, 0]);
});
