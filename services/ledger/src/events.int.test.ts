import type { Bus, BusMessage } from "@wonrail/kit/bus";
import { newId } from "@wonrail/kit/contract/ids";
import { type Queryable, sql } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { type OutboxRow, startOutboxRelay } from "@wonrail/kit/outbox";
import { eventually, testLog, testRegistry } from "@wonrail/kit/testing";
import { AccountOpened, HoldPlaced, JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import {
  DAILY_LIMIT,
  postTo,
  requestOf,
  startTestLedger,
  testEngine,
  type TestLedger,
} from "./commands/testing/ledger";
import { createExpander } from "./events";
import { createRecentEntries, type RecentEntries } from "./store/recentEntries";

let ledger: TestLedger;

beforeAll(async () => {
  ledger = await startTestLedger();
});
afterAll(() => ledger.close());

test("every entry becomes one event with all its postings, under the trace of the request that made it", async () => {
  const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
  const origin = { requestId: "partner-own:id_1", traceparent };
  const walletId = await ledger.open("kim");
  const requests = Array.from({ length: 50 }, (_, index) =>
    requestOf(
      ledger.orgId,
      { kind: "charge", walletId, amountWon: won(1_000n + BigInt(index)) },
      { memo: `no. ${index}` },
    ),
  );
  await Promise.all(requests.map((request) => ledger.engine.post({ request, origin, deadlineMs: Infinity })));
  await ledger.post({
    kind: "placeHold",
    walletId,
    amountWon: won(70n),
    dailyLimitWon: DAILY_LIMIT,
    toAddress: `0x${"b".repeat(40)}`,
  });
  const empty = await ledger.open("lee");
  await ledger.post({ kind: "closeAccount", walletId: empty });

  const messages = await published(50 + 2 + 1 + 1, createRecentEntries(2));
  const ofType = (type: string) => messages.filter(({ headers }) => headers.event_type === type);
  const posted = ofType("journal_posted").map(({ key, value, headers }) => ({
    key,
    headers,
    event: JournalPosted.decode(value),
  }));
  expect(posted.map(({ event }) => event.requestId).sort()).toEqual(
    requests.map(({ requestId }) => requestId).sort(),
  );
  for (const { key, headers, event } of posted) {
    expect(key).toBe(event.entryId);
    expect(headers).toMatchObject({
      traceparent,
      request_id: origin.requestId,
      org_id: ledger.orgId,
      version: "1",
    });
    expect(headers.event_id).toBe(`evt_${event.entryId.slice(4)}`);
    expect(event.postings).toHaveLength(2);
  }
  expect(AccountOpened.decode(ofType("account_opened")[0]!.value)).toMatchObject({
    accountId: walletId,
    userId: "kim",
  });
  expect(HoldPlaced.decode(ofType("hold_placed")[0]!.value)).toMatchObject({
    walletId,
    amountWon: "70",
    sequence: 50n,
  });
  expect(ofType("account_closed")[0]).toMatchObject({ key: empty, headers: { version: "2" } });
});

test("an entry of another organisation is not told under this one", async () => {
  const row = { org_id: newId("org"), type: "journal_refs", payload: Buffer.alloc(41) };
  expect(await createExpander(createRecentEntries(2)).expand(ledger.database.db, row as never)).toEqual([]);
});

test("an entry that was just committed is told as it is read from the journal, and read only when it is not known", async () => {
  const { database, orgId } = ledger;
  const recent = createRecentEntries(10);
  const engine = testEngine({ db: database.db, recent });
  const walletId = await ledger.open("park", "NORMAL", 5_000n);
  const charge = requestOf(orgId, { kind: "charge", walletId, amountWon: won(700n) }, { memo: "'{}\\" });
  const cancel = requestOf(orgId, {
    kind: "cancelCharge",
    chargeRequestId: charge.requestId,
    amountWon: won(200n),
  });
  for (const request of [charge, cancel]) await postTo(engine, request);
  await engine.close();

  const rows = await database.db.query<OutboxRow>(
    sql`select * from outbox where type = 'journal_refs' order by id desc limit 2`,
  );
  const expander = createExpander(recent);
  const neverAsked = null as unknown as Queryable;
  for (const row of rows) {
    const fromMemory = await expander.expand(neverAsked, row);
    expect(fromMemory).toHaveLength(1);
    expect(await expander.expand(database.db, row)).toEqual(fromMemory);
  }
});

test("what a stand-by has lost is not told: only what was committed since this process is the one that publishes is known", async () => {
  const { database, orgId } = ledger;
  const recent = createRecentEntries(10);
  const engine = testEngine({ db: database.db, recent });
  const walletId = await ledger.open("choi");
  const charge = requestOf(orgId, { kind: "charge", walletId, amountWon: won(900n) });
  await postTo(engine, charge);
  await engine.close();
  // As it was before the stand-by took over, and the charge was posted again behind others.
  const lost = recent.take(orgId, charge.requestId)!;
  recent.remember([{ ...lost, postings: lost.postings.map((one) => ({ ...one, sequence: 77n })) }]);

  const told = await published(1, recent, ({ headers }) => headers.event_type === "journal_posted");
  const { requestId, postings } = JournalPosted.decode(told.at(-1)!.value);
  expect(requestId).toBe(charge.requestId);
  expect(postings.find(({ accountId }) => accountId === walletId)).toMatchObject({ sequence: 1n });
});

/** What the relay of a ledger that remembers these entries makes of the outbox. */
async function published(
  count: number,
  recent: RecentEntries,
  wanted: (message: BusMessage) => boolean = () => true,
): Promise<BusMessage[]> {
  const messages: BusMessage[] = [];
  // Only publishing is needed of the bus here; the real ones have their own suite.
  const publish = async (batch: BusMessage[]) => void messages.push(...batch.filter(wanted));
  const relay = startOutboxRelay({
    db: ledger.database.db,
    bus: { publish } as unknown as Bus,
    log: testLog(),
    registry: testRegistry(),
    expander: createExpander(recent),
    pollMs: 20,
  });
  try {
    await eventually(() => expect(messages.length).toBeGreaterThanOrEqual(count), { timeoutMs: 20_000 });
  } finally {
    await relay.close();
  }
  return messages;
}
