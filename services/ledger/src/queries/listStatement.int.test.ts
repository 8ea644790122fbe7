import { chargeOf } from "../domain/testing/requests";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { openTestDatabase } from "@wonrail/kit/testing";
import { postTo, requestOf, startTestLedger, transferOf, type TestLedger } from "../commands/testing/ledger";
import type { TransactionType } from "../domain/types";
import { listStatement, type StatementQuery } from "./listStatement";

let ledger: TestLedger;
let walletId: string;
let other: string;
let middleMs: number;
/** sequence and type of every line, oldest first */
const lines: [number, TransactionType][] = [];

beforeAll(async () => {
  ledger = await startTestLedger();
  [walletId, other] = [await ledger.open("kim", "NORMAL"), await ledger.open("lee", "NORMAL")];
  const charge = () => requestOf(ledger.orgId, chargeOf(walletId, 1_000n), { memo: "top-up" });
  const transfer = () => requestOf(ledger.orgId, transferOf(walletId, other, 1n));
  for (const [count, kind] of [
    [150, "CHARGE"],
    [3, "TRANSFER"],
    [400, "CHARGE"],
    [1, "TRANSFER"],
    [60, "CHARGE"],
  ] as const) {
    await sleep(5);
    // By the clock that the lines have their times from.
    const { at } = await ledger.database.db.one<{ at: Date }>(sql`select clock_timestamp() as at`);
    if (kind === "TRANSFER" && count === 3) middleMs = at.getTime();
    await sleep(5);
    await Promise.all(
      Array.from({ length: count }, () => postTo(ledger.engine, kind === "CHARGE" ? charge() : transfer())),
    );
    for (let index = 0; index < count; index += 1) lines.push([lines.length + 1, kind]);
  }
});
afterAll(async () => {
  expect(await ledger.violations()).toEqual([]);
  await ledger.close();
});

function list(query: Partial<StatementQuery> = {}) {
  const all = {
    orgId: ledger.orgId,
    accountId: walletId,
    types: [],
    fromMs: null,
    toMs: null,
    page: undefined,
  };
  return listStatement(ledger.database.db, { ...all, ...query });
}

/** Walks the whole statement by cursor. */
async function walk(
  query: Partial<StatementQuery>,
  limit: number,
  oldestFirst = false,
): Promise<[number, TransactionType][]> {
  const seen: [number, TransactionType][] = [];
  for (
    let cursor: string | undefined = undefined, first = true;
    first || cursor !== undefined;
    first = false
  ) {
    const position: NonNullable<StatementQuery["page"]>["position"] =
      cursor === undefined ? undefined : { $case: "cursor", value: cursor };
    const { lines: page, info } = await list({ ...query, page: { limit, position, oldestFirst } });
    seen.push(
      ...page.map(({ posting }): [number, TransactionType] => [Number(posting.sequence), posting.type]),
    );
    cursor = info.nextCursor;
    expect(info.hasNext).toBe(cursor !== undefined);
  }
  return seen;
}

test("lists every line once, in both directions, for any page size", async () => {
  const newestFirst = [...lines].reverse();
  for (const limit of [100, 7]) {
    expect(await walk({}, limit)).toEqual(newestFirst);
    expect(await walk({}, limit, true)).toEqual(lines);
  }
});

test.each<[TransactionType[]]>([
  [["TRANSFER"]],
  [["CHARGE"]],
  [["CHARGE", "TRANSFER"]],
  [["REFUND"]],
  [["REFUND", "TRANSFER"]],
])("filtered by %j lists each line of those types and no other", async (types) => {
  const oldestFirst = lines.filter(([, type]) => types.includes(type));
  const expected = [...oldestFirst].reverse();
  for (const limit of [100, 3]) {
    expect(await walk({ types }, limit)).toEqual(expected);
    expect(await walk({ types }, limit, true)).toEqual(oldestFirst);
  }
  expect((await list({ types })).info.totalCount).toBe(expected.length);
});

test("accepts page numbers and cursors", async () => {
  const third = await list({ page: { limit: 50, position: { $case: "currentPage", value: 3 } } });
  expect(third.lines.map(({ posting }) => Number(posting.sequence))).toEqual(
    lines
      .map(([sequence]) => sequence)
      .reverse()
      .slice(100, 150),
  );
  expect(third.info).toMatchObject({ hasNext: true, totalCount: lines.length });
  const typed = await list({
    types: ["CHARGE"],
    page: { limit: 50, position: { $case: "currentPage", value: 12 } },
  });
  expect(typed.lines.map(({ posting }) => Number(posting.sequence))).toEqual(
    lines
      .filter(([, type]) => type === "CHARGE")
      .map(([sequence]) => sequence)
      .reverse()
      .slice(550, 600),
  );
  const oldest = await list({
    page: { limit: 50, position: { $case: "currentPage", value: 3 }, oldestFirst: true },
  });
  expect(oldest.lines.map(({ posting }) => Number(posting.sequence))).toEqual(
    lines.map(([sequence]) => sequence).slice(100, 150),
  );
});

test("filters by a start, by an end, and by types with both", async () => {
  const from = await list({ fromMs: middleMs, page: { limit: 1, position: undefined } });
  expect(from.info.totalCount).toBe(lines.length - 150);
  const to = await list({ toMs: middleMs });
  expect(to.lines[0]!.posting.sequence).toBe(150n);
  expect(to.info.totalCount).toBe(150);
  expect((await list({ toMs: middleMs, types: ["TRANSFER"] })).lines).toEqual([]);
  expect((await list({ fromMs: middleMs, types: ["TRANSFER"] })).info.totalCount).toBe(4);
  expect((await list({ fromMs: Date.now() + 60_000 })).lines).toEqual([]);
});

test("a time range ignores later lines, although the database's clock was set back", async () => {
  const account = await ledger.open("back", "NORMAL");
  const startMs = Date.now() - 3_600_000;
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger");
  let posted = 0;
  const postAt = async (seconds: number) => {
    const requestId = newId("opn");
    await ledger.post(chargeOf(account, 1n), { requestId });
    const at = new Date(startMs + seconds * 1_000);
    await owner.run(sql`update entries set posted_at = ${at} where id = ${idToUuid(requestId)}`);
    posted += 1;
  };
  const between = async (fromMs: number | null, toMs: number | null) =>
    (await walk({ accountId: account, fromMs, toMs }, 100)).map(([sequence]) => sequence);
  const aroundMs = startMs + 11_000;

  for (const seconds of [0, 10, 20, 5, 8, 12, 22]) await postAt(seconds);
  const before = await between(null, aroundMs);
  for (let seconds = 23; posted < 40; seconds += 1) {
    await postAt(seconds);
    expect(await between(null, aroundMs)).toEqual(before);
    expect(await between(aroundMs, null)).toHaveLength(posted - before.length);
  }
  await owner.close();
});

test("a line holds balance, memo, entry and counterparties", async () => {
  const [line] = (await list({ types: ["TRANSFER"], page: { limit: 1, position: undefined } })).lines;
  expect(line).toMatchObject({
    memo: null,
    counterpartyIds: [other],
    posting: { amountWon: -1n, accountId: walletId },
  });
  const [newest] = (await list()).lines;
  expect(newest).toMatchObject({ memo: "top-up", posting: { balanceAfterWon: 609_996n } });
});

test("another organisation's account counts as absent", async () => {
  await expect(list({ orgId: newId("org") })).rejects.toMatchObject({ code: "WAL_002" });
  await expect(list({ accountId: newId("wal") })).rejects.toMatchObject({ code: "WAL_002" });
});

test("a cursor of the last line or beyond leads to an empty page, oldest first", async () => {
  for (const value of ["9999999999999999999", "614"]) {
    const position = { $case: "cursor", value: Buffer.from(value).toString("base64url") } as const;
    const { lines: found } = await list({ page: { limit: 5, position, oldestFirst: true } });
    expect(found).toEqual([]);
  }
});

test("a cursor of no earlier page is refused", async () => {
  const value = Buffer.from("0x1").toString("base64url");
  await expect(list({ page: { limit: 1, position: { $case: "cursor", value } } })).rejects.toMatchObject({
    code: "REQ_001",
  });
});
