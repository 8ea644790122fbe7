import type { Bus, BusMessage } from "@wonrail/kit/bus";
import { won } from "@wonrail/kit/contract/money";
import { startOutboxRelay } from "@wonrail/kit/outbox";
import { eventually, testLog, testRegistry } from "@wonrail/kit/testing";
import { AccountOpened, HoldPlaced, JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { DAILY_LIMIT, requestOf, startTestLedger, type TestLedger } from "./commands/testing/ledger";
import { TOPICS } from "./events";

let ledger: TestLedger;

beforeAll(async () => {
  ledger = await startTestLedger();
});
afterAll(() => ledger.close());

test("every entry becomes one event with all its postings and the trace of its request", async () => {
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

  const messages = await published(50 + 2 + 1 + 1);
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
    expect(key).toBe(ledger.orgId);
    expect(headers).toMatchObject({
      traceparent,
      request_id: origin.requestId,
      org_id: ledger.orgId,
      version: "1",
    });
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

/** The messages that the relay makes of the outbox. */
async function published(count: number): Promise<BusMessage[]> {
  const messages: BusMessage[] = [];
  // The test needs only publishing. Kafka has its own suite.
  const publish = async (batch: BusMessage[]) => void messages.push(...batch);
  const relay = startOutboxRelay({
    db: ledger.database.db,
    topic: TOPICS[0]!,
    bus: { publish } as unknown as Bus,
    log: testLog(),
    registry: testRegistry(),
    pollMs: 20,
  });
  try {
    await eventually(() => expect(messages.length).toBeGreaterThanOrEqual(count), { timeoutMs: 20_000 });
  } finally {
    await relay.close();
  }
  return messages;
}
