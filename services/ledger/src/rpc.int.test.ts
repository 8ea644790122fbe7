import { chargeOf } from "./domain/testing/requests";
import { createClient } from "@wonrail/kit/grpc/client";
import { startGrpcServer, type GrpcServer } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { createRegistry } from "@wonrail/kit/metrics";
import { won } from "@wonrail/kit/contract/money";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { AccountType, IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import {
  AccountStatus,
  HoldStatus,
  LedgerServiceService,
  type PostRequest,
} from "@wonrail/proto/ledger/v1/ledger";
import { createApp } from "./app";
import {
  DAILY_LIMIT,
  keyOfBody,
  messageOf,
  requestOf,
  startTestLedger,
  stayWithinOneDay,
  type TestLedger,
} from "./commands/testing/ledger";
import type { Intent } from "./domain/intents";
import { rpc } from "./rpc";

let ledger: TestLedger;
let server: GrpcServer;
let client: ReturnType<typeof connect>;
const registry = testRegistry();
const closers: (() => Promise<void> | void)[] = [];

function connect(port: number) {
  const clientRegistry = createRegistry({ service: "client", version: "0", commit: "0" });
  const target = {
    name: "ledger",
    address: `127.0.0.1:${port}`,
    log: testLog(),
    registry: clientRegistry,
    defaultTimeoutMs: 20_000,
  };
  return createClient(LedgerServiceService, target);
}

beforeAll(async () => {
  ledger = await startTestLedger();
  const config = {
    BATCH_QUEUES: 2,
    MAX_BATCH: 1_000,
    MAX_QUEUE: 20_000,
    MAX_CHARGED_PER_DAY_WON: 1e12,
  } as never;
  const onClose = (_name: string, close: () => Promise<void> | void) => void closers.push(close);
  const app = await createApp({ config, db: ledger.database.db, log: testLog(), registry, onClose });
  server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: rpc(app),
    log: testLog(),
    registry,
  });
  client = connect(server.port);
});
afterAll(async () => {
  client.close();
  await server.drain(1_000);
  for (const close of closers) await close();
  await ledger.close();
});

const message = (intent: Intent, requestId = newId("opn")): PostRequest =>
  messageOf(requestOf(ledger.orgId, intent, { requestId }));
const charge = (walletId: string, amount: bigint): Intent => chargeOf(walletId, amount);

test("a closed account with a deposit is reopened with its balance", async () => {
  const walletId = await ledger.open("late");
  const chainLogId = "31337/0xd/0xe/1";
  await client.post(message({ kind: "closeAccount", walletId }));
  await client.post(message({ kind: "creditExternal", walletId, amountWon: won(50n), chainLogId }));
  const reopened = await client.post(message({ kind: "reopenAccount", walletId }));
  expect(reopened.entry).toMatchObject({
    kind: IntentKind.REOPEN_ACCOUNT,
    postings: [],
    balances: [{ accountId: walletId, balanceWon: "50" }],
  });
  const { accounts } = await client.getBalances({ orgId: ledger.orgId, accountIds: [walletId] });
  expect(accounts).toMatchObject([{ status: AccountStatus.OPEN, closedAt: undefined }]);
});

test("a refusal carries its code and details, and a posted intent its postings", async () => {
  const walletId = await ledger.open("kim");
  const request = message(charge(walletId, 1_000n));
  const posted = await client.post(request);
  expect(posted.replayed).toBe(false);
  expect(posted.entry).toMatchObject({
    entryId: `jrn_${request.requestId.slice(4)}`,
    postings: [
      { amountWon: "-1000" },
      {
        accountId: walletId,
        amountWon: "1000",
        balanceAfterWon: "1000",
        sequence: 1n,
        type: TransactionType.CHARGE,
      },
    ],
    balances: [{ accountId: walletId, balanceWon: "1000", heldWon: "0", availableWon: "1000", sequence: 1n }],
  });
  expect(await client.post(request)).toEqual({ ...posted, replayed: true });
  const absent = newId("wal");
  await expect(client.post(message(charge(absent, 1n)))).rejects.toMatchObject({
    code: "WAL_002",
    details: { walletId: absent },
  });
});

test.each<[string, (request: PostRequest) => PostRequest]>([
  ["a request id that is no UUIDv7", (request) => ({ ...request, requestId: `opn_${"0".repeat(32)}` })],
  [
    "a request id from the far future",
    (request) => ({ ...request, requestId: newId("opn", Date.now() + 400 * 86_400_000) }),
  ],
  ["a memo of 201 characters", (request) => ({ ...request, memo: "가".repeat(201) })],
  ["no organisation", (request) => ({ ...request, context: undefined })],
  ["no intent", (request) => ({ ...request, intent: undefined })],
  ...["0", "-1", "1.5", "1e3", "", " 1", "01", "9007199254740992", "١"].map(
    (amountWon): [string, (request: PostRequest) => PostRequest] => [
      `the amount "${amountWon}"`,
      (request) => ({
        ...request,
        intent: {
          $case: "charge",
          value: { walletId: newId("wal"), amountWon, dailyLimitWon: "1", maxChargeWon: "1" },
        },
      }),
    ],
  ),
])("refuses %s and stores nothing", async (_what, spoil) => {
  const walletId = await ledger.open();
  const sound = message(charge(walletId, 1_000n));
  await expect(client.post(spoil(sound))).rejects.toMatchObject({ code: "REQ_001" });
  expect((await client.post(sound)).entry!.postings).toHaveLength(2);
});

test("a bulk call executes its items in order, each with its own outcome", async () => {
  const walletId = newId("wal");
  const { outcomes } = await client.postBulk({
    items: [
      message({ kind: "openAccount", walletId, userId: "bulk", type: "NORMAL" }),
      message({ kind: "refund", walletId }),
      message(charge(walletId, 500n)),
      message({ kind: "refund", walletId }),
    ],
  });
  expect(
    outcomes.map(({ outcome }) => (outcome?.$case === "error" ? outcome.value.code : outcome?.$case)),
  ).toEqual(["posted", "CHG_007", "posted", "posted"]);
});

test("a bulk call refuses only the items whose context cannot be stored", async () => {
  const walletId = await ledger.open("storable");
  const items = ["req_1", "a\0b", "req_3"].map((text): PostRequest => {
    const item = message(charge(walletId, 100n));
    return { ...item, context: { ...item.context!, requestId: text, traceparent: text } };
  });
  const opened = message({ kind: "openAccount", walletId: newId("wal"), userId: "nul", type: "NORMAL" });
  items.push({ ...opened, context: { ...opened.context!, requestId: "a\0b" } });
  const { outcomes } = await client.postBulk({ items });
  expect(
    outcomes.map(({ outcome }) => (outcome?.$case === "error" ? outcome.value.code : outcome?.$case)),
  ).toEqual(["posted", "REQ_001", "posted", "REQ_001"]);
  const { accounts } = await client.getBalances({ orgId: ledger.orgId, accountIds: [walletId] });
  expect(accounts).toMatchObject([{ balanceWon: "200" }]);
});

test("a key replays its outcome, also a refusal, to a new request id, and refuses another body", async () => {
  const { orgId } = ledger;
  const walletId = await ledger.open("keyed");
  const keyed = (key: string, body: string, intent: Intent) =>
    messageOf(requestOf(orgId, intent, { key: keyOfBody(key, body) }));
  const first = await client.post(keyed("key 1", "a", chargeOf(walletId, 100n)));
  expect(first.replayed).toBe(false);
  expect(await client.post(keyed("key 1", "a", chargeOf(walletId, 100n)))).toEqual({
    ...first,
    replayed: true,
  });
  await expect(client.post(keyed("key 1", "b", chargeOf(walletId, 100n)))).rejects.toMatchObject({
    code: "REQ_003",
  });
  const [refused, again] = (
    await client.postBulk({
      items: [0, 1].map(() => keyed("key 2", "a", chargeOf("wal_" + "0".repeat(32), 100n))),
    })
  ).outcomes;
  expect(refused).toMatchObject({ outcome: { $case: "error", value: { code: "WAL_002" } }, replayed: false });
  expect(again).toEqual({ ...refused, replayed: true });

  const found = await client.findByKey({ orgId, scope: "PAY", key: "key 1" });
  expect(found.outcome!.outcome).toEqual({ $case: "posted", value: first.entry });
  expect(found.bodyHash.toString("hex")).toBe(keyOfBody("key 1", "a").bodyHash);
  for (const other of [
    { orgId, scope: "PAY", key: "key 3" },
    { orgId, scope: "CHARGE", key: "key 1" },
    { orgId: newId("org"), scope: "PAY", key: "key 1" },
  ])
    expect(await client.findByKey(other)).toEqual({ outcome: undefined, bodyHash: Buffer.alloc(0) });
});

test("the journal lists an organisation's entries in pages, with the caller's notes", async () => {
  const orgId = newId("org");
  const walletId = newId("wal");
  const notes = { memo: "memo", reference: "order 7", metadata: { desk: "3" } };
  await client.post(
    messageOf(requestOf(orgId, { kind: "openAccount", walletId, userId: "kim", type: "NORMAL" })),
  );
  const charged = await client.post(messageOf(requestOf(orgId, chargeOf(walletId, 100n), notes)));
  expect(charged.entry).toMatchObject({ ...notes, orgSequence: 2n, relatedId: charged.entry!.requestId });
  const refunded = await client.post(messageOf(requestOf(orgId, { kind: "refund", walletId })));

  const first = await client.listJournal({ orgId, afterSequence: 0n, limit: 2 });
  expect(first.lastSequence).toBe(3n);
  expect(first.entries.map(({ orgSequence }) => orgSequence)).toEqual([1n, 2n]);
  expect(first.entries[1]).toEqual({ ...charged.entry, origin: expect.any(Object) });
  const rest = await client.listJournal({ orgId, afterSequence: 2n, limit: 500 });
  expect(rest.entries.map(({ kind }) => kind)).toEqual([IntentKind.REFUND]);
  expect(await client.listJournal({ orgId: newId("org"), afterSequence: 0n, limit: 500 })).toEqual({
    entries: [],
    lastSequence: 0n,
  });
  const { heads } = await client.listJournalHeads({ afterOrgId: undefined, limit: 1_000 });
  const head = { orgId, lastSequence: 3n, lastRequestId: refunded.entry!.requestId };
  expect(heads).toContainEqual(head);
  const after = await client.listJournalHeads({ afterOrgId: orgId, limit: 1_000 });
  expect(after.heads).not.toContainEqual(head);
});

test("the journal names the call that asked for an entry, and no call where there was none", async () => {
  const { orgId } = ledger;
  const walletId = await ledger.open("called");
  const origin = { requestId: "partner-own:id_1", traceId: "ab".repeat(16) };
  const traceparent = `00-${origin.traceId}-${"cd".repeat(8)}-01`;
  const asked = message(charge(walletId, 1_000n));
  const { entry } = await client.post({
    ...asked,
    context: { orgId, requestId: origin.requestId, traceparent },
  });
  const unasked = message(charge(walletId, 1_000n));
  await client.post({ ...unasked, context: { orgId, requestId: "", traceparent: "" } });

  const requestIds = [asked.requestId, unasked.requestId];
  const { requests } = await client.getEntries({ orgId, requestIds });
  const found = requests.map(({ outcome }) =>
    outcome?.outcome?.$case === "posted" ? outcome.outcome.value.origin : "not posted",
  );
  expect(found).toEqual([origin, undefined]);
  const afterSequence = entry!.orgSequence - 1n;
  const { entries } = await client.listJournal({ orgId, afterSequence, limit: 2 });
  expect(entries.map((each) => each.origin)).toEqual([origin, undefined]);
  expect(entries[0]).toEqual({ ...entry, origin });
});

test("a charge and a payment list their cancellations, oldest first, with the cancelled amount", async () => {
  const { orgId } = ledger;
  const [walletId, shop] = [await ledger.open("buyer"), await ledger.open("seller")];
  const charged = message(charge(walletId, 1_000n));
  await client.post(charged);
  const paid = message({
    kind: "payment",
    payerWalletId: walletId,
    receiverWalletId: shop,
    amountWon: won(400n),
    incentiveAmountWon: null,
    accrualRateBps: 0,
  });
  await client.post(paid);
  const parts = [100n, 200n].map((amount) =>
    message({ kind: "cancelCharge", chargeRequestId: charged.requestId, amountWon: won(amount) }),
  );
  for (const part of parts) await client.post(part);
  const cancel = message({ kind: "cancelPayment", paymentRequestId: paid.requestId });
  const cancelled = await client.post(cancel);
  expect(cancelled.entry!.original).toMatchObject({
    requestId: paid.requestId,
    result: { $case: "paymentMade", value: { payerWalletId: walletId } },
  });

  const { requests } = await client.getEntries({ orgId, requestIds: [charged.requestId, paid.requestId] });
  const states = new Map(requests.map((state) => [state.requestId, state]));
  const [ofCharge, ofPayment] = [states.get(charged.requestId)!, states.get(paid.requestId)!];
  expect(ofCharge.cancelledWon).toBe("300");
  expect(ofCharge.cancellations.map(({ requestId }) => requestId)).toEqual(
    parts.map(({ requestId }) => requestId),
  );
  expect(ofPayment.cancelledWon).toBe("400");
  expect(ofPayment.cancellations).toEqual([{ ...cancelled.entry, original: undefined }]);
});

test("accounts, entries, holds and totals are readable by their own organisation only", async () => {
  await stayWithinOneDay(10_000);
  const { orgId } = ledger;
  const walletId = await ledger.open("asker", "NORMAL", 1_000n);
  const hold = message({
    kind: "placeHold",
    walletId,
    amountWon: won(300n),
    dailyLimitWon: DAILY_LIMIT,
    toAddress: `0x${"c".repeat(40)}`,
  });
  await client.post(hold);

  const { accounts } = await client.getBalances({ orgId, accountIds: [newId("wal"), walletId] });
  expect(accounts).toMatchObject([
    {
      accountId: walletId,
      type: AccountType.NORMAL,
      userId: "asker",
      status: AccountStatus.OPEN,
      balanceWon: "1000",
      heldWon: "300",
      availableWon: "700",
      transferredTodayWon: "300",
    },
  ]);
  expect(await client.getBalances({ orgId: newId("org"), accountIds: [walletId] })).toEqual({ accounts: [] });

  const { requests } = await client.getEntries({ orgId, requestIds: [hold.requestId, newId("opn")] });
  expect(requests).toMatchObject([
    { requestId: hold.requestId, hold: { walletId, amountWon: "300", status: HoldStatus.OPEN } },
  ]);
  const elsewhere = await client.getEntries({ orgId: newId("org"), requestIds: [hold.requestId] });
  expect(elsewhere.requests).toEqual([]);

  const more = message(charge(walletId, 5n));
  const charged = await client.post(more);
  expect(charged.entry!.balances).toMatchObject([
    { balanceWon: "1005", heldWon: "300", availableWon: "705" },
  ]);
  expect(await client.post(more)).toEqual({ ...charged, replayed: true });

  const all = await client.listAccounts({ orgId, afterAccountId: undefined, limit: 1_000 });
  const [first, ...rest] = all.accounts;
  expect(
    (await client.listAccounts({ orgId, afterAccountId: first!.accountId, limit: 1_000 })).accounts,
  ).toEqual(rest);

  const totals = await client.getTotals({ orgId });
  const sum = totals.totals.reduce((total, { balanceWon }) => total + BigInt(balanceWon), 0n);
  expect(sum).toBe(0n);
  expect(totals.heldWon).toBe("300");
  expect(await ledger.violations()).toEqual([]);
});

test("the metrics measure the engine's work", async () => {
  const text = await registry.metrics();
  for (const name of [
    "ledger_batch_seconds_count",
    "ledger_lock_wait_seconds_count",
    'ledger_refusals_total{code="WAL_002"}',
    "ledger_postings_total",
    'batch_queue_depth{queue="ledger_0"}',
  ]) {
    expect(text).toContain(name);
  }
});
