import { implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { Registry } from "@wonrail/kit/metrics";
import { eventually, testLog } from "@wonrail/kit/testing";
import {
  CancelledCharge,
  Charge,
  ChargeCancellation,
  ChargeStatus,
  type ExecuteRequest,
  type ExecuteResponse,
  type ListPaymentsRequest,
  type ListTransactionsRequest,
  type ListWalletTransactionsRequest,
  Payment,
  PaymentRefund,
  PaymentServiceService,
  PaymentStatus,
  Refund,
  RefundedPayment,
  type Settlement,
  SettlementStatus,
  Transfer,
  TransferStatus,
  type UpdateMetadataRequest,
} from "@wonrail/proto/payment/v1/payment";
import {
  type CreateWalletRequest,
  Wallet,
  WalletServiceService,
  WalletStatus,
  WalletType,
} from "@wonrail/proto/wallet/v1/wallet";
import { exampleId } from "./routes/exampleFixtures";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

// Requests that the gateway sends to services, and the fields of its answers.

const at = new Date("2026-01-14T00:30:00.000Z");
const settlement: Settlement = {
  ...{ status: SettlementStatus.CONFIRMED, network: "N", txHash: "0xa", blockNumber: 7n },
};
const payment = Payment.fromPartial({
  ...{ paymentId: "pay_1", status: PaymentStatus.PAID, payerWalletId: "wal_1", receiverWalletId: "wal_2" },
  ...{ amountWon: "600", breakdown: { governmentWon: "100", incentiveWon: "200", normalWon: "300" } },
  ...{ incentiveAccruedWon: "15", refundedAmountWon: "0", memo: "lunch" },
  ...{ reference: "order-7", metadata: { till: "3" }, settlement, createdAt: at },
});
const settled = { status: "CONFIRMED", network: "N", txHash: "0xa", blockNumber: 7 };
const amounts = {
  ...{ restoredIncentiveWon: "200", restoredNormalWon: "290" },
  ...{ incentiveClawedBackWon: "5", keptFromNormalWon: "10" },
};
const later = new Date("2026-01-14T00:40:00.000Z");
const backNotes = { memo: "sent back", reference: "return-7", metadata: { clerk: "kim" } };
const did = { cancelId: "pcl_1", ...backNotes, createdAt: later, ...amounts };
const paid = {
  ...{ paymentId: "pay_1", status: "PAID", payerWalletId: "wal_1", receiverWalletId: "wal_2", amount: 600 },
  ...{ breakdown: { government: 100, incentive: 200, normal: 300 }, incentiveAccrued: 15, memo: "lunch" },
  ...{ refundedAmount: 0, reference: "order-7", metadata: { till: "3" } },
  ...{ settlement: settled, cancellation: null, createdAt: at.toISOString() },
};
const doneBy = { restored: { incentive: 200, normal: 290 }, incentiveClawedBack: 5, keptFromNormal: 10 };
const paymentCancellation = {
  cancelId: "pcl_1",
  ...doneBy,
  ...backNotes,
  createdAt: later.toISOString(),
};
const partWon = { refundId: "prf_1", amountWon: "500", ...amounts };
const part = PaymentRefund.fromPartial({
  ...{ ...partWon, memo: "one item", reference: "item-1", metadata: { till: "4" } },
  ...{ settlement, createdAt: later },
});
const refund = {
  ...{ refundId: "prf_1", amount: 500, ...doneBy, memo: "one item" },
  ...{ reference: "item-1", metadata: { till: "4" }, settlement: settled },
};
const charge = Charge.fromPartial({
  ...{ chargeId: "chg_1", status: ChargeStatus.PARTIALLY_CANCELLED, walletId: "wal_1", amountWon: "3000" },
  ...{ cancelledAmountWon: "1000", balanceWon: "4000", settlement, cancellableUntil: at },
  createdAt: at,
});

const noNotes = { memo: null, reference: null, metadata: {} };

let auth: FakeAuthServer;
let services: Awaited<ReturnType<typeof startGrpcServer>>;
let gateway: TestGateway;
let key: string;
const asked: ExecuteRequest[] = [];
const listed: ListWalletTransactionsRequest[] = [];
const listedAll: ListTransactionsRequest[] = [];
const changes: UpdateMetadataRequest[] = [];
const lists: ListPaymentsRequest[] = [];
const creations: CreateWalletRequest[] = [];
/** payment's next answer. */
let says: ExecuteResponse;
/** Cancellation of the payment that is read. */
let readCancellation: Payment["cancellation"];

beforeAll(async () => {
  auth = await startFakeAuthServer();
  const execute = async (request: ExecuteRequest) => (asked.push(request), says);
  const door = { host: "127.0.0.1", port: 0, log: testLog(), registry: new Registry() };
  services = await startGrpcServer({
    ...door,
    services: [
      implement(PaymentServiceService, {
        execute,
        executeBulk: async ({ items }) => ({ items: await Promise.all(items.map(execute)) }),
        getTransfer: async () => ({
          transfer: Transfer.fromPartial({
            ...{ transferId: "trf_1", status: TransferStatus.FAILED, fromWalletId: "wal_1", amountWon: "5" },
            ...{ toWalletAddress: "0xb", failureReason: "expired", settlement, createdAt: at },
          }),
        }),
        getPayment: async () => ({
          payment: Payment.fromPartial({ ...payment, cancellation: readCancellation }),
          refunds: [part],
        }),
        getCharge: async () => ({
          charge,
          cancellations: [
            ChargeCancellation.fromPartial({
              cancelId: "ccl_1",
              amountWon: "1000",
              settlement,
              createdAt: at,
            }),
          ],
        }),
        getRefund: async () => ({
          refund: Refund.fromPartial({
            ...{
              refundId: "rfd_1",
              walletId: "wal_1",
              amountWon: "900",
              memo: "bye",
              settlement,
              createdAt: at,
            },
          }),
        }),
        updateMetadata: async (request) => {
          changes.push(request);
          return { object: { $case: "payment", value: payment } };
        },
        listPayments: async (request) => {
          lists.push(request);
          return { payments: [], page: { hasNext: false, nextCursor: undefined, totalCount: 0 } };
        },
        listWalletTransactions: async (request) => {
          listed.push(request);
          return { transactions: [], page: { hasNext: false, nextCursor: undefined, totalCount: 0 } };
        },
        listTransactions: async (request) => {
          listedAll.push(request);
          return { transactions: [], page: { hasNext: false, nextCursor: undefined, totalCount: undefined } };
        },
      }),
      implement(WalletServiceService, {
        createWallet: async (request) => {
          creations.push(request);
          const wallet = Wallet.fromPartial({
            ...{ walletId: "wal_1", userId: request.userId, walletType: request.walletType },
            ...{ walletAddress: "0xa", metadata: request.metadata, balanceWon: "0" },
            ...{ availableBalanceWon: "0", status: WalletStatus.ACTIVE, createdAt: at, updatedAt: at },
          });
          return { wallet, replayed: creations.length > 1 };
        },
        getWallet: async () => ({
          wallet: Wallet.fromPartial({
            ...{ walletId: "wal_1", userId: "user", walletType: WalletType.NORMAL, walletAddress: "0xa" },
            ...{ balanceWon: "900", availableBalanceWon: "800", status: WalletStatus.ACTIVE },
            ...{ createdAt: at, updatedAt: at },
          }),
        }),
      }),
    ],
  });
  gateway = await startGateway({ authPort: auth.port, servicesPort: services.port });
  await eventually(() => gateway.ready());
  key = auth.addKey().text;
});

afterAll(async () => {
  await gateway.close();
  await services.drain(100);
  await auth.close();
});

beforeEach(() => {
  asked.length = 0;
  says = { replayed: false, outcome: { $case: "payment", value: payment } };
  readCancellation = { ...did, settlement };
});

const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
  gateway.send("POST", `/api/wallets/${path}`, { key, body, headers });
const get = async (path: string) => (await gateway.send("GET", `/api/wallets/${path}`, { key })).body.data;
const order = { payerWalletId: exampleId("wal"), receiverWalletId: exampleId("wal"), amount: 600 };

describe("each field of the service's answer has its own name in the response", () => {
  test("a payment and its cancellation", async () => {
    expect((await post("payment", order)).body.data).toEqual(paid);
    const cancellation = { ...did, settlement: { ...settlement, status: SettlementStatus.SUBMITTED } };
    const cancelled = { ...payment, status: PaymentStatus.CANCELLED, cancellation };
    const value = Payment.fromPartial(cancelled);
    says = { replayed: false, outcome: { $case: "cancelledPayment", value } };
    const { body } = await post("payment/cancel", { paymentId: exampleId("pay"), memo: "sent back" });
    expect(body.data).toEqual({
      ...{ ...paid, status: "CANCELLED", cancelId: "pcl_1", ...doneBy },
      cancellation: { ...paymentCancellation, settlement: { ...settled, status: "SUBMITTED" } },
    });
    const read = { ...paid, cancellation: { ...paymentCancellation, settlement: settled } };
    const refunds = [{ ...refund, createdAt: later.toISOString() }];
    expect(await get(`payment/${exampleId("pay")}`)).toEqual({ ...read, refunds });
  });

  test("a payment and a refund of a part", async () => {
    const refunded = { status: PaymentStatus.PARTIALLY_REFUNDED, refundedAmountWon: "550" };
    const value = RefundedPayment.fromPartial({ payment: { ...payment, ...refunded }, refund: part });
    says = { replayed: false, outcome: { $case: "refundedPayment", value } };
    const { body } = await post("payment/refund", { paymentId: exampleId("pay"), amount: 500 });
    expect(asked.at(-1)!.command).toMatchObject({ $case: "refundPayment", value: { amountWon: "500" } });
    expect(body.data).toEqual({
      ...{ ...paid, status: "PARTIALLY_REFUNDED", refundedAmount: 550, refundId: "prf_1" },
      refund: { ...refund, createdAt: later.toISOString() },
    });
  });

  test("a charge", async () => {
    says = { replayed: false, outcome: { $case: "charge", value: charge } };
    const { body } = await post("charge", { walletId: exampleId("wal"), amount: 3_000 });
    const expected = {
      amount: 3_000,
      cancelledAmount: 1_000,
      balance: 4_000,
      memo: null,
      settlement: settled,
    };
    expect(body.data).toMatchObject(expected);
    expect(await get(`charge/${exampleId("chg")}`)).toEqual({
      ...body.data,
      cancellations: [
        { cancelId: "ccl_1", amount: 1_000, ...noNotes, settlement: settled, createdAt: at.toISOString() },
      ],
    });
    const cancellation = {
      ...{ cancelId: "ccl_1", amountWon: "1000", createdAt: at },
      settlement: { ...settlement, status: SettlementStatus.SUBMITTED },
    };
    const value = CancelledCharge.fromPartial({ charge, cancellation });
    says = { replayed: false, outcome: { $case: "cancelledCharge", value } };
    expect((await post("charge/cancel", { chargeId: exampleId("chg") })).body.data).toEqual({
      ...{ ...body.data, cancelId: "ccl_1" },
      cancellation: {
        ...{ cancelId: "ccl_1", amount: 1_000, ...noNotes, createdAt: at.toISOString() },
        settlement: { ...settled, status: "SUBMITTED" },
      },
    });
  });

  test("a refund", async () => {
    expect(await get(`charge/refund/${exampleId("rfd")}`)).toEqual({
      ...{ refundId: "rfd_1", walletId: "wal_1", amount: 900, ...noNotes, memo: "bye" },
      ...{ settlement: settled, createdAt: at.toISOString() },
    });
  });

  test("a failed transfer and a wallet", async () => {
    const failed = { status: "FAILED", failureReason: "expired", toWalletId: null, amount: 5 };
    expect(await get(`transfer/${exampleId("trf")}`)).toMatchObject(failed);
    expect(await get(exampleId("wal"))).toMatchObject({ balance: 900, availableBalance: 800 });
  });
});

test("notes reach the service in every command", async () => {
  const notes = { memo: "lunch", reference: "order-7", metadata: { till: "3" } };
  const [walletId, chargeId, paymentId] = [exampleId("wal"), exampleId("chg"), exampleId("pay")];
  const commands: [path: string, body: object][] = [
    ["transfer", { fromWalletId: walletId, toWalletAddress: `0x${"ab".repeat(20)}`, amount: 1 }],
    ["charge", { walletId, amount: 1_000 }],
    ["charge/cancel", { chargeId }],
    ["charge/refund", { walletId }],
    ["payment", order],
    ["payment/cancel", { paymentId }],
  ];
  // The answer is that of a payment, which only a payment accepts.
  for (const [path, body] of commands) await post(path, { ...body, ...notes });
  expect(asked.map(({ command }) => command!.value)).toMatchObject(commands.map(() => notes));
});

test("pairs in another order are the same request, and another value is not", async () => {
  const keyed = (metadata: object) => post("payment", { ...order, metadata }, { "idempotency-key": "notes" });
  for (const metadata of [
    { a: "1", b: "2" },
    { b: "2", a: "1" },
    { a: "1", b: "3" },
  ])
    await keyed(metadata);
  const [one, turned, other] = asked.map(({ bodyHash }) => bodyHash.toString("hex"));
  expect([one === turned, one === other]).toEqual([true, false]);
});

test("a change of metadata sends the pairs to write and the names to delete", async () => {
  const id = exampleId("pay");
  const body = { metadata: { till: "4", shop: null } };
  const { body: answer } = await gateway.send("PATCH", `/api/wallets/payment/${id}`, { key, body });
  expect(answer.data).toEqual(paid);
  expect(changes).toMatchObject([{ id, set: { till: "4" }, remove: ["shop"] }]);
});

test("filters and order of a list reach the service", async () => {
  const query = "reference=order-7&status=PAID&settlementStatus=FAILED&minAmount=5&maxAmount=7&order=asc";
  await get(`payment?${query}`);
  expect(lists).toMatchObject([
    {
      status: PaymentStatus.PAID,
      filter: {
        ...{ reference: "order-7", settlementStatus: SettlementStatus.FAILED },
        ...{ minAmountWon: "5", maxAmountWon: "7" },
      },
      page: { oldestFirst: true },
    },
  ]);
});

test("the filters and the order of statements reach the service unchanged", async () => {
  await get(`${exampleId("wal")}/transactions?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z&order=asc`);
  const bounds = { from: new Date("2026-01-01T00:00:00Z"), to: new Date("2026-02-01T00:00:00Z") };
  expect(listed).toMatchObject([{ ...bounds, page: { oldestFirst: true } }]);
  await gateway.send("GET", "/api/transactions?status=PAID&type=PAYMENT,REFUND", { key });
  expect(listedAll).toMatchObject([{ status: "PAID", types: ["PAYMENT", "REFUND"] }]);
});

test("equal payments have one hash in any field order: a null incentiveAmount equals an absent one, and 0 differs", async () => {
  const turned = Object.fromEntries(Object.entries(order).reverse());
  for (const body of [order, turned, { ...order, incentiveAmount: null }, { ...order, incentiveAmount: 0 }])
    await post("payment", body, { "idempotency-key": "one" });
  await post("payment", order);
  const [first, ...others] = asked.map(({ bodyHash }) => Buffer.from(bodyHash).toString("hex"));
  // A request without a key sends no hash.
  expect(others.map((hash) => hash === first)).toEqual([true, true, false, false]);
  expect(others.at(-1)).toBe("0".repeat(64));
  const incentives = asked.map(({ command }) => command?.$case === "pay" && command.value.incentiveAmountWon);
  expect(incentives).toEqual([undefined, undefined, undefined, "0", undefined]);
});

test("a wallet is created under its Idempotency-Key, and metadata pairs in any order are one request", async () => {
  const create = (metadata: object, headers: Record<string, string> = { "Idempotency-Key": "user 7" }) =>
    gateway.send("POST", "/api/wallets", {
      key,
      headers,
      body: { userId: "7", walletType: "NORMAL", metadata },
    });
  const first = await create({ tier: "gold", branch: "7" });
  const again = await create({ branch: "7", tier: "gold" });
  await create({ tier: "silver" });
  await create({}, {});
  expect([first, again].map(({ status, headers }) => [status, headers["idempotent-replayed"]])).toEqual([
    [201, undefined],
    [201, "true"],
  ]);
  expect(creations.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
    "user 7",
    "user 7",
    "user 7",
    undefined,
  ]);
  const [one, same, other, none] = creations.map(
    (request) => request.bodyHash && Buffer.from(request.bodyHash).toString("hex"),
  );
  expect([same === one, other === one, none]).toEqual([true, false, undefined]);
});

test.each([
  [true, "true"],
  [false, undefined],
])("a refusal (replayed: %p) is marked as replayed in the header", async (replayed, header) => {
  says = { replayed, outcome: { $case: "error", value: { code: "PAY_001" } } };
  const { status, headers, body } = await post("payment", order);
  expect([status, body.error?.code, headers["idempotent-replayed"]]).toEqual([400, "PAY_001", header]);
});
