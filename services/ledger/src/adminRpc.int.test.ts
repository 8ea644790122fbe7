import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { sql } from "@wonrail/kit/db";
import { openTestDatabase, testLog, testRegistry, viewer, wholeScans } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { LedgerAdminServiceService } from "@wonrail/proto/ledger/v1/admin";
import { Freeze } from "@wonrail/proto/ledger/v1/intents";
import { HoldStatus } from "@wonrail/proto/ledger/v1/ledger";
import { adminRpc } from "./adminRpc";
import { createApp } from "./app";
import { DAILY_LIMIT, keyOfBody, requestOf, startTestLedger } from "./commands/testing/ledger";
import { seoulDay, startOfSeoulDay } from "./domain/limits";
import { chargeOf } from "./domain/testing/requests";
import type { Intent } from "./domain/intents";
import type { LedgerRequest } from "./domain/types";
import { getAccount, listHolds } from "./queries/getAccount";
import { getBalanceHistory } from "./queries/getBalanceHistory";
import { getOrganisationBooks } from "./queries/getOrganisationBooks";
import { getOverview } from "./queries/getOverview";
import { search } from "./queries/search";
import { findRequestSource } from "./store/searches";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const OUTSIDE = `0x${"c".repeat(40)}`;

const world = buildWorld(async (open) => {
  const ledger = await open.use(startTestLedger());
  const config = {
    ...{ BATCH_QUEUES: 1, MAX_BATCH: 100, MAX_QUEUE: 1_000, MAX_CHARGED_PER_DAY_WON: 1e12 },
    DATABASE_URL: ledger.database.url,
  } as never;
  const parts = { config, db: ledger.database.db, log: testLog(), registry: testRegistry() };
  const app = await open.app((onClose) => createApp({ ...parts, onClose }));
  const { address } = await open.server([adminRpc(app, ledger.database.db)]);
  return { ledger, app, admin: open.client(LedgerAdminServiceService, address) };
});
afterAll(async () => (await world).close());

/** Posts as a call of the gateway does. */
async function post(intent: Intent, options: Partial<LedgerRequest> = {}) {
  const { ledger } = await world;
  const request = requestOf(ledger.orgId, intent, options);
  const origin = { requestId: newId("req"), traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };
  const { outcome } = await ledger.engine.post({ request, origin, deadlineMs: Infinity });
  return { requestId: request.requestId, callId: origin.requestId, status: outcome.status };
}

test("the details of an entry tell its outcome, the call that asked for it, its caller and its key", async () => {
  const { ledger, admin } = await world;
  const walletId = await ledger.open();
  const options = { key: keyOfBody("order 7"), caller: "payment", requestId: newId("chg") };
  const { requestId, callId } = await post(chargeOf(walletId, 1_500n), options);
  const details = await admin.getEntryDetails({ operator: viewer, requestId });
  expect(details).toMatchObject({
    orgId: ledger.orgId,
    request: {
      requestId,
      outcome: {
        outcome: {
          $case: "posted",
          value: { requestId, origin: { requestId: callId, traceId: "a".repeat(32) } },
        },
      },
    },
    decidedAt: expect.any(Date),
    postedBy: "payment",
    key: { scope: "PAY", key: "order 7", createdAt: expect.any(Date) },
    holdEndings: [],
  });
  const elsewhere = { operator: viewer, orgId: newId("org"), requestId };
  await expect(admin.getEntryDetails(elsewhere)).rejects.toMatchObject({ code: "REQ_001" });
});

test("a refused request shows its refusal", async () => {
  const { ledger, admin } = await world;
  const walletId = await ledger.open();
  const { requestId, status } = await post({
    ...{ kind: "placeHold", walletId, toAddress: OUTSIDE },
    ...{ amountWon: won(1n), dailyLimitWon: DAILY_LIMIT },
  });
  expect(status).toBe("refused");
  expect(await admin.getEntryDetails({ operator: viewer, requestId })).toMatchObject({
    request: { outcome: { outcome: { $case: "error" } }, hold: undefined },
    key: undefined,
    postedBy: undefined,
  });
});

test("an open hold is listed, and its end is shown with it", async () => {
  const { ledger, admin } = await world;
  const { orgId } = ledger;
  const accountId = await ledger.open("holder", "NORMAL", 5_000n);
  const { requestId: holdRequestId } = await post({
    ...{ kind: "placeHold", walletId: accountId, toAddress: OUTSIDE },
    ...{ amountWon: won(2_000n), dailyLimitWon: DAILY_LIMIT },
  });
  const holds = () => admin.listAccountHolds({ operator: viewer, orgId, accountId, limit: 10 });
  expect((await holds()).holds).toMatchObject([
    { holdRequestId, toAddress: OUTSIDE, amountWon: "2000", placedAt: expect.any(Date) },
  ]);
  const { requestId } = await post({ kind: "voidHold", holdRequestId });
  expect((await holds()).holds).toEqual([]);
  expect(await admin.getEntryDetails({ operator: viewer, requestId: holdRequestId })).toMatchObject({
    request: { hold: { status: HoldStatus.VOIDED } },
    holdEndings: [{ requestId }],
  });
});

test("an account shows its balances and the freezes of the chain and of operators", async () => {
  const { ledger, admin } = await world;
  const accountId = await ledger.open("frozen", "NORMAL", 1_000n);
  const freeze = { kind: "freezeAccount", walletId: accountId, reason: "", source: "OPERATOR" } as const;
  await post({ ...freeze, freeze: "OUTGOING" });
  expect(await admin.getAccount({ operator: viewer, accountId })).toMatchObject({
    orgId: ledger.orgId,
    account: { accountId, userId: "frozen", balanceWon: "1000" },
    frozenByChain: Freeze.NONE,
    frozenByOperator: Freeze.OUTGOING,
  });
  const unknown = admin.getAccount({ operator: viewer, accountId: newId("wal") });
  await expect(unknown).rejects.toMatchObject({ code: "WAL_002" });
});

test("the balance history has the balance at the end of each day of Asia/Seoul", async () => {
  const { ledger, admin } = await world;
  const { orgId } = ledger;
  const accountId = await ledger.open("saver");
  const ids = [];
  for (const amount of [1_000n, 2_000n, 4_000n])
    ids.push((await post(chargeOf(accountId, amount))).requestId);
  const today = seoulDay(Date.now());
  const noonOf = (day: number) => new Date(startOfSeoulDay(day).getTime() + 12 * 60 * MINUTE_MS);
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger", { max: 1 });
  for (const [index, day] of [today - 3, today - 1].entries())
    await owner.run(sql`
      update entries set posted_at = ${noonOf(day)} where id = ${ids[index]!.slice(4)}::uuid`);
  await owner.close();
  const { days } = await admin.getBalanceHistory({ operator: viewer, orgId, accountId, days: 5 });
  expect(days.map(({ balanceWon }) => balanceWon)).toEqual(["0", "1000", "1000", "3000", "7000"]);
  expect(days[4]!.day).toBe(new Date(Date.now() + 9 * 60 * MINUTE_MS).toISOString().slice(0, 10));
  const { lines, page } = await admin.listAccountLines({
    ...{ operator: viewer, orgId, accountId },
    page: { limit: 2, position: undefined, oldestFirst: undefined },
  });
  expect(lines.map(({ requestId }) => requestId)).toEqual([ids[2], ids[1]]);
  expect(page!.hasNext).toBe(true);
  const tooMany = admin.getBalanceHistory({ operator: viewer, orgId, accountId, days: 93 });
  await expect(tooMany).rejects.toMatchObject({ code: "REQ_001" });
});

test("the books of an organisation sum its wallets and count its entries by day", async () => {
  const { admin, ledger } = await world;
  const orgId = newId("org");
  const walletId = newId("wal");
  const postFor = async (intent: Intent) => {
    const request = requestOf(orgId, intent);
    await ledger.engine.post({ request, origin: { requestId: "", traceparent: "" }, deadlineMs: Infinity });
    return request.requestId;
  };
  await postFor({ kind: "openAccount", walletId, userId: "kim", type: "NORMAL" });
  await postFor(chargeOf(walletId, 1_000n));
  await postFor(chargeOf(walletId, 3_000n));
  const books = await admin.getOrganisationBooks({ operator: viewer, orgId, days: 3 });
  expect(books).toMatchObject({ walletsWon: "4000", entries: 3n });
  expect(books.accounts).toHaveLength(3);
  expect(books.days.map(({ entries }) => entries)).toEqual([0n, 0n, 3n]);

  const last = await postFor({ kind: "openAccount", walletId: newId("wal"), userId: "lee", type: "NORMAL" });
  const tomorrowMs = Date.now() + DAY_MS;
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger", { max: 1 });
  await owner.run(sql`
    update entries set id = uuid_from(${new Date(tomorrowMs)}) where id = ${last.slice(4)}::uuid`);
  await owner.close();
  const { days } = await getOrganisationBooks(ledger.database.db, { orgId, days: 3 }, tomorrowMs);
  expect(days.map(({ entries }) => entries)).toEqual([0n, 3n, 1n]);
});

test("search finds wallets and requests of any organisation, and nothing for unknown words", async () => {
  const { ledger, admin } = await world;
  const { orgId } = ledger;
  const walletId = await ledger.open("sought");
  const reference = `invoice ${walletId}`;
  const { requestId, callId } = await post(chargeOf(walletId, 1_000n), { reference });
  const hitsOf = async (text: string) => (await admin.search({ operator: viewer, text })).hits;
  const entry = { kind: "entry", id: requestId, orgId, title: expect.stringContaining("charge, posted at") };
  expect(await hitsOf(walletId)).toEqual([
    { kind: "wallet", id: walletId, orgId, title: "NORMAL wallet of sought" },
  ]);
  for (const text of [requestId, `jrn_${requestId.slice(4)}`, ` ${reference} `, callId])
    expect(await hitsOf(text)).toEqual([entry]);
  for (const text of ["", "x".repeat(200), newId("wal"), newId("req"), "sought"])
    expect(await hitsOf(text)).toEqual([]);
});

test("the overview counts each minute once, by the time of its requests", async () => {
  const { ledger, app, admin } = await world;
  const minuteMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 5 * MINUTE_MS;
  const walletId = newId("wal");
  const requestId = () => newId("opn", minuteMs + 10_000);
  const open = { kind: "openAccount", walletId, userId: walletId, type: "NORMAL" } as const;
  await post(open, { requestId: requestId() });
  await post(chargeOf(walletId, 1_000n), { requestId: requestId() });
  await post(chargeOf(walletId, 500n), { requestId: requestId() });
  expect(await ledger.violations()).toEqual([]);
  for (let round = 0; round < 30; round += 1) await app.countTraffic();
  const { minutes, countedUntil, hour, day } = await admin.getOverview({ operator: viewer });
  expect(minutes.find(({ minute }) => minute!.getTime() === minuteMs)).toEqual({
    ...{ minute: new Date(minuteMs), entries: 3n, movedWon: "1500" },
  });
  expect(minutes).toHaveLength(60);
  expect(countedUntil!.getTime()).toBe(minutes[59]!.minute!.getTime() + MINUTE_MS);
  expect(hour!.entries).toBeGreaterThanOrEqual(3n);
  expect(hour!.entriesPerSecond).toBeCloseTo(Number(hour!.entries) / 3_600);
  expect(day!.entries).toBeGreaterThanOrEqual(hour!.entries);
});

test("the overview shows whether the last verification found the books in agreement", async () => {
  const { app, admin } = await world;
  await app.verifyAccounts(AbortSignal.timeout(60_000));
  await app.verifyJournal(AbortSignal.timeout(60_000));
  const { verifications } = await admin.getOverview({ operator: viewer });
  const sound = { violations: 0, brokenInvariants: [], finishedAt: expect.any(Date) };
  expect(verifications).toMatchObject([
    { scope: "accounts", ...sound },
    { scope: "journal", ...sound },
  ]);
});

test("no view reads a growing table whole", async () => {
  const { ledger } = await world;
  const { orgId } = ledger;
  const accountId = await ledger.open("planned", "NORMAL", 1_000n);
  const { requestId } = await post(chargeOf(accountId, 1_000n), { key: keyOfBody("planned") });
  const scans = await wholeScans(ledger.database.db, async (db) => {
    await getAccount(db, accountId);
    await listHolds(db, { orgId, accountId, limit: 10 });
    await getBalanceHistory(db, { orgId, accountId, days: 92 });
    await getOrganisationBooks(db, { orgId, days: 92 });
    await getOverview(db);
    await findRequestSource(db, { orgId, requestId });
    for (const text of [accountId, requestId, newId("req"), "a reference"]) await search(db, text);
  });
  // Two rows at most, and a row per month.
  expect(scans).toEqual(["journal_partitions", "verifications"]);
});
