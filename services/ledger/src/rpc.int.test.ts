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
  type PostStreamRequest,
} from "@wonrail/proto/ledger/v1/ledger";
import { createApp } from "./app";
import {
  DAILY_LIMIT,
  messageOf,
  requestOf,
  startTestLedger,
  stayWithinOneDay,
  type TestLedger,
} from "./commands/testing/ledger";
import type { Intent } from "./domain/types";
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
  const config = { MAX_BATCH: 1_000, MAX_QUEUE: 20_000 } as never;
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
const charge = (walletId: string, amount: bigint): Intent => ({
  kind: "charge",
  walletId,
  amountWon: won(amount),
});

test("a closed account that was deposited into is opened again, with what it holds", async () => {
  const walletId = await ledger.open("late");
  const chainLogId = "31337/0xd/0xe/1";
  await client.post(message({ kind: "closeAccount", walletId }));
  await client.post(message({ kind: "creditExternal", walletId, amountWon: won(50n), chainLogId }));
  const reopened = await client.post(message({ kind: "reopenAccount", walletId }));
  expect(reopened).toMatchObject({ postings: [], balances: [{ accountId: walletId, balanceWon: "50" }] });
  const { entry } = await client.getEntry({ orgId: ledger.orgId, id: reopened.entryId });
  expect(entry!.kind).toBe(IntentKind.REOPEN_ACCOUNT);
  const { accounts } = await client.getBalances({ orgId: ledger.orgId, accountIds: [walletId] });
  expect(accounts).toMatchObject([{ status: AccountStatus.OPEN, closedAt: undefined }]);
});

test("a refusal crosses with its code and details, and a posted intent with its postings", async () => {
  const walletId = await ledger.open("kim");
  const request = message(charge(walletId, 1_000n));
  const posted = await client.post(request);
  expect(posted).toMatchObject({
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
  expect(await client.post(request)).toEqual(posted);
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
        intent: { $case: "charge", value: { walletId: newId("wal"), amountWon } },
      }),
    ],
  ),
])("refuses %s, and keeps nothing of it", async (_what, spoil) => {
  const walletId = await ledger.open();
  const sound = message(charge(walletId, 1_000n));
  await expect(client.post(spoil(sound))).rejects.toMatchObject({ code: "REQ_001" });
  expect((await client.post(sound)).postings).toHaveLength(2);
});

test("in a bulk each item has its own outcome, and what comes first is done first", async () => {
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

test("in a bulk whose contexts hold what cannot be stored only those items are refused", async () => {
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

test("a stream answers in the order of its requests", async () => {
  const walletId = await ledger.open("stream");
  const requests = Array.from({ length: 300 }, (_, index) => message(charge(walletId, BigInt(index + 1))));
  async function* items(): AsyncIterable<PostStreamRequest> {
    for (const item of requests) yield { item };
  }
  const sequences: bigint[] = [];
  const answered: string[] = [];
  for await (const { requestId, outcome } of client.postStream(items())) {
    answered.push(requestId);
    if (outcome?.outcome?.$case === "posted") sequences.push(outcome.outcome.value.postings[1]!.sequence);
  }
  expect(answered).toEqual(requests.map(({ requestId }) => requestId));
  expect(sequences).toEqual(requests.map((_, index) => BigInt(index + 1)));
});

test("accounts, entries, holds and totals can be asked for, of one's own organisation only", async () => {
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

  const { entry } = await client.getEntry({ orgId, id: `jrn_${hold.requestId.slice(4)}` });
  expect(entry).toMatchObject({
    requestId: hold.requestId,
    hold: { walletId, amountWon: "300", status: HoldStatus.OPEN },
  });
  const many = await client.getEntries({ orgId, requestIds: [hold.requestId, newId("opn")] });
  expect(many.entries).toEqual([entry]);
  await expect(client.getEntry({ orgId: newId("org"), id: hold.requestId })).rejects.toMatchObject({
    code: "TX_001",
  });

  const more = message(charge(walletId, 5n));
  const charged = await client.post(more);
  expect(charged.balances).toMatchObject([{ balanceWon: "1005", heldWon: "300", availableWon: "705" }]);
  expect(await client.post(more)).toEqual(charged);

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

test("what the engine did shows in the metrics", async () => {
  const text = await registry.metrics();
  for (const name of [
    "ledger_batch_seconds_count",
    "ledger_lock_wait_seconds_count",
    'ledger_refusals_total{code="WAL_002"}',
    "ledger_postings_total",
    'lane_queue_depth{lane="ledger"}',
  ]) {
    expect(text).toContain(name);
  }
});
