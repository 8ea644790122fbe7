import { newId, uuidToId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { sql } from "@wonrail/kit/db";
import { testLog, testOperator } from "@wonrail/kit/testing";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { chargeOf } from "../domain/testing/requests";
import type { Intent } from "../domain/intents";
import type { Entry, LedgerRequest } from "../domain/types";
import { listJournal } from "../queries/listJournal";
import { reenterLostEntries } from "./reenterLostEntries";
import { readRequest } from "./readRequest";
import {
  answerTo,
  DAILY_LIMIT,
  keyOfBody,
  messageOf,
  requestOf,
  soundLedger,
  transferOf,
} from "./testing/ledger";

/** The ledger before the disaster, and the one that a backup restored. Kafka keeps the topic. */
const [before, restored] = [soundLedger(), soundLedger()];
const WINDOW = { fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER };

let orgId: string;
/** Everything that both ledgers were asked for, in order. */
let requests: LedgerRequest[];

beforeEach(() => {
  orgId = newId("org");
  requests = [];
});

test("lost entries of every kind get their old numbers, times, lines, keys and events again", async () => {
  const [payer, shop] = [newId("wal"), newId("wal")];
  const bonus = newId("wal");
  await post({ kind: "openAccount", walletId: payer, userId: "kim", type: "NORMAL" });
  await post({ kind: "openAccount", walletId: bonus, userId: "kim", type: "INCENTIVE" });
  await keep();
  await post({ kind: "openAccount", walletId: shop, userId: "shop", type: "NORMAL" });
  const charge = await post(chargeOf(payer, 100_000n));
  await post(transferOf(payer, shop, 1_000n));
  const order: Intent = {
    kind: "payment",
    payerWalletId: payer,
    receiverWalletId: shop,
    amountWon: won(10_000n),
    incentiveAmountWon: null,
    accrualRateBps: 250,
  };
  const notes = { memo: "lunch", reference: "order 1", metadata: { desk: "1" } };
  const paid = await post(order, { key: keyOfBody("pay 1"), ...notes });
  await post({ kind: "refundPayment", paymentRequestId: paid.requestId, amountWon: won(3_000n) });
  await post({ kind: "cancelCharge", chargeRequestId: charge.requestId, amountWon: won(500n) });
  const toAddress = `0x${"b".repeat(40)}`;
  const limit = { amountWon: won(70n), dailyLimitWon: DAILY_LIMIT };
  const hold = await post({ kind: "placeHold", walletId: payer, toAddress, ...limit });
  await post({ kind: "postHold", holdRequestId: hold.requestId });
  const chainLogId = `1/${orgId}/2/3`;
  await post({ kind: "creditExternal", walletId: payer, amountWon: won(50n), chainLogId });
  const block = { freeze: "ALL", source: "CHAIN", reason: "blocked" } as const;
  await post({ kind: "freezeAccount", walletId: shop, ...block });

  const lost = requests.length - 2;
  expect(await reenter()).toEqual({ entries: lost, known: 2, problems: [] });
  expect((await journalOf(restored)).slice(2)).toEqual((await journalOf(before)).slice(2));
  expect(await eventsOf(restored)).toEqual(expect.arrayContaining((await eventsOf(before)).slice(2)));
  // A partner repeats the payment under its key, with a new request id.
  const repeated = requestOf(orgId, paid.intent, { key: keyOfBody("pay 1") });
  const { outcome, replayed } = await answerTo(restored.engine, repeated);
  expect(replayed).toBe(true);
  expect(outcome).toMatchObject({ status: "posted", entry: { requestId: withUuidOf(paid) } });
  expect(await reenter()).toEqual({ entries: 0, known: lost + 2, problems: [] });
});

test("an organisation that has posted another entry since stops at its first lost one", async () => {
  const [wallet, other] = [newId("wal"), newId("wal")];
  await post({ kind: "openAccount", walletId: wallet, userId: "kim", type: "NORMAL" });
  await keep();
  const [first] = [await post(chargeOf(wallet, 1_000n)), await post(chargeOf(wallet, 2_000n))];
  const open = { kind: "openAccount", walletId: other, userId: "lee", type: "NORMAL" } as const;
  await answerTo(restored.engine, requestOf(orgId, open));
  const { entries, problems } = await reenter();
  expect(entries).toBe(0);
  expect(problems).toEqual([expect.stringContaining(`${first.requestId}, number 2, the journal goes on`)]);
  expect(await journalOf(restored)).toHaveLength(2);
});

/** Posts a request to the ledger before the disaster. */
async function post(intent: Intent, options: Partial<LedgerRequest> = {}): Promise<LedgerRequest> {
  const request = requestOf(orgId, intent, options);
  const sent = { ...request, encode: () => PostRequest.encode(messageOf(request)).finish() };
  const { outcome } = await answerTo(before.engine, sent);
  expect(outcome.status).toBe("posted");
  requests.push(request);
  return request;
}

/** Gives the restored ledger everything that the backup has. */
async function keep(): Promise<void> {
  for (const request of requests) await answerTo(restored.engine, request);
}

function reenter() {
  const { db } = restored.database;
  return reenterLostEntries(
    {
      ...{ db, log: testLog(), hasSandbox: true },
      read: (message) => readRequest(message, WINDOW, null),
      async readOwnTopic({ handle }) {
        for (const message of await listMessages()) await handle(message);
      },
    },
    testOperator(),
  );
}

/** The organisation's events, as Kafka has them. */
async function listMessages() {
  const rows = await before.database.db.query<{ id: string; payload: Buffer }>(
    sql`select event_id as id, payload from outbox where org_id = ${orgId} order by id`,
  );
  expect(rows.every(({ payload }) => JournalPosted.decode(payload).requests.length > 0)).toBe(true);
  return rows.map(({ id, payload }, index) => ({
    ...{ topic: "wonrail.ledger.v1", partition: 0, key: orgId, offset: `${index}`, value: payload },
    headers: { event_type: "journal_posted", event_id: uuidToId("evt", id), org_id: orgId },
  }));
}

/** Ids and payloads of the organisation's events. */
function eventsOf({ database }: typeof before) {
  return database.db.query(sql`
    select event_id, version, payload from outbox where org_id = ${orgId} order by version`);
}

/** The journal without origins. */
async function journalOf({ database }: typeof before): Promise<Partial<Entry>[]> {
  const { entries } = await listJournal(database.db, orgId, 0n, 500);
  return entries.map(comparable);
}

/** The short numbers of accounts are each database's own. */
function comparable({ original, postings, ...rest }: Entry): Partial<Entry> {
  const { origin: _, ...entry } = rest as typeof rest & { origin?: unknown };
  const lines = postings.map((posting) => ({ ...posting, accountNumber: 0n }));
  return { ...entry, postings: lines, original: original && (comparable(original) as Entry) };
}

function withUuidOf({ requestId }: LedgerRequest): unknown {
  return expect.stringMatching(new RegExp(`${requestId.slice(4)}$`));
}
