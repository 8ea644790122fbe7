// Compares every request and answer of the library with the gateway's OpenAPI document.
import { type ErrorCode, errorMeanings, ServiceClient, ServiceError } from "../src/index.ts";
import { type Operation, operations, problems } from "./support/document.ts";
import { type Asked, fakeFetch } from "./support/fakeFetch.ts";

const ORIGIN = "https://service";
const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";
const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
const page = { limit: 5, currentPage: 2 };
const notes = { memo: "m", reference: "order-7", metadata: { till: "3" } };
const transaction = { fromAddress: ADDRESS, toAddress: ADDRESS, amount: "1000000", fee: "0", ...notes };
const change = { metadata: { till: "4", shop: null } };
const moments = { from: new Date(0), to: "2026-01-14T09:30:00+09:00" };

/** The filters of every list of money. */
const filters = {
  ...page,
  ...moments,
  reference: "order-7",
  settlementStatus: "CONFIRMED",
  minAmount: 1,
  maxAmount: 9,
  order: "asc",
} as const;

/** Calls for every operation, with all of its fields. */
const calls: Record<string, ((client: ServiceClient) => PromiseLike<unknown>)[]> = {
  refreshKey: [({ auth }) => auth.refreshKey({ secretKey: "sk_test_1" })],
  revokeKey: [({ auth }) => auth.revokeKey()],
  getSession: [({ auth }) => auth.getSession()],
  issueKey: [
    ({ keys }) => keys.create({ name: "shop", scopes: ["payments:write"] }),
    ({ keys }) =>
      keys.create({
        ...{ name: "shop", scopes: ["payments:read"], allowedAddresses: ["203.0.113.0/24"] },
        ...{ expiresAt: inAnHour, apiVersion: "2026-01-01" },
      }),
  ],
  listKeys: [({ keys }) => keys.list(), ({ keys }) => keys.list(page)],
  getKey: [({ keys }) => keys.get("key_1")],
  deleteKey: [
    ({ keys }) => keys.revoke("key_1"),
    ({ keys }) => keys.revoke("key_1", { withSuccessors: true }),
  ],
  createSandboxDeposit: [({ sandbox }) => sandbox.createDeposit({ walletId: "wal_1", amount: 7_000 })],
  holdSandboxSettlement: [({ sandbox }) => sandbox.holdSettlement("trf_1")],
  failSandboxSettlement: [({ sandbox }) => sandbox.failSettlement("trf_1")],
  releaseSandboxSettlement: [({ sandbox }) => sandbox.releaseSettlement("trf_1")],
  expireSandboxKey: [({ sandbox }) => sandbox.expireKey("key_1")],
  openSandboxClock: [({ sandbox }) => sandbox.readClock()],
  advanceSandboxClock: [
    ({ sandbox }) => sandbox.advanceClock({ to: inAnHour }),
    ({ sandbox }) => sandbox.advanceClock({ to: new Date(inAnHour) }),
  ],
  rotateSecretKey: [({ keys }) => keys.rotateSecret()],
  createWallet: [
    ({ wallets }) => wallets.create({ userId: "u", walletType: "NORMAL" }),
    ({ wallets }) => wallets.create({ userId: "u", walletType: "GOVERNMENT", metadata: { branch: "Seoul" } }),
  ],
  getWallet: [({ wallets }) => wallets.get("wal_1")],
  listWallets: [
    ({ wallets }) => wallets.list(),
    ({ wallets }) => wallets.list({ ...page, userId: "u", walletType: "INCENTIVE", status: "ACTIVE" }),
    ({ wallets }) => wallets.list({ cursor: "abc" }),
  ],
  updateWallet: [({ wallets }) => wallets.update("wal_1", { metadata: {} })],
  deactivateWallet: [({ wallets }) => wallets.deactivate("wal_1")],
  listWalletTransactions: [
    ({ wallets }) => wallets.listTransactions("wal_1"),
    ({ wallets }) =>
      wallets.listTransactions("wal_1", {
        ...{ ...page, ...moments, type: ["PAYMENT", "REFUND"], order: "asc" },
      }),
  ],
  listAllTransactions: [
    ({ wallets }) => wallets.listAllTransactions(),
    ({ wallets }) => wallets.listAllTransactions({ ...filters, type: ["PAYMENT", "REFUND"], status: "PAID" }),
  ],
  getBalance: [
    ({ wallets }) => wallets.getBalance("wal_1"),
    ({ wallets }) => wallets.getBalance("wal_1", { at: new Date(0) }),
  ],
  createTransfer: [
    ({ transfers }) =>
      transfers.create({ fromWalletId: "wal_1", toWalletAddress: ADDRESS, amount: 1, ...notes }),
  ],
  getTransfer: [({ transfers }) => transfers.get("trf_1")],
  listTransfers: [({ transfers }) => transfers.list({ ...filters, walletId: "wal_1", status: "PENDING" })],
  updateTransfer: [({ transfers }) => transfers.update("trf_1", change)],
  createPayout: [
    ({ payouts }) =>
      payouts.create({ fromWalletId: "wal_1", rows: [{ toWalletAddress: ADDRESS, amount: 1 }] }),
    ({ payouts }) =>
      payouts.create({
        ...{ fromWalletId: "wal_1", mode: "BEST_EFFORT", dryRun: true },
        rows: [{ toWalletAddress: ADDRESS, amount: 1, idempotencyKey: "kim", ...notes }],
      }),
    ({ payouts }) => payouts.create({ fromWalletId: "wal_1", csv: `toWalletAddress,amount\n${ADDRESS},1` }),
  ],
  getPayout: [({ payouts }) => payouts.get("pyo_1")],
  listPayouts: [({ payouts }) => payouts.list({ ...page, status: "PENDING", order: "asc" })],
  listPayoutRows: [({ payouts }) => payouts.listRows("pyo_1", { ...page, status: "REFUSED" })],
  readStatements: [
    ({ reports }) => reports.statements({ from: new Date(0) }),
    ({ reports }) => reports.statements({ ...moments, walletId: "wal_1", format: "json" }),
  ],
  readSettlements: [({ reports }) => reports.settlements({ ...moments, format: "json" })],
  createCharge: [({ charges }) => charges.create({ walletId: "wal_1", amount: 1000, ...notes })],
  cancelCharge: [
    ({ charges }) => charges.cancel({ chargeId: "chg_1" }),
    ({ charges }) => charges.cancel({ chargeId: "chg_1", amount: 1, ...notes }),
  ],
  refundWallet: [({ charges }) => charges.refund({ walletId: "wal_1", ...notes })],
  getRefund: [({ charges }) => charges.getRefund("rfd_1")],
  getCharge: [({ charges }) => charges.get("chg_1")],
  listCharges: [({ charges }) => charges.list({ ...filters, walletId: "wal_1", status: "CHARGED" })],
  updateCharge: [({ charges }) => charges.update("chg_1", change)],
  updateChargeCancellation: [({ charges }) => charges.updateCancellation("ccl_1", change)],
  updateRefund: [({ charges }) => charges.updateRefund("rfd_1", change)],
  listRefunds: [({ charges }) => charges.listRefunds({ ...filters, walletId: "wal_1" })],
  createPayment: [
    ({ payments }) => payments.create({ payerWalletId: "wal_1", receiverWalletId: "wal_2", amount: 100 }),
    ({ payments }) =>
      payments.create({
        payerWalletId: "w",
        receiverWalletId: "x",
        amount: 100,
        incentiveAmount: null,
        ...notes,
      }),
    ({ payments }) =>
      payments.create({ payerWalletId: "w", receiverWalletId: "x", amount: 100, incentiveAmount: 0 }),
  ],
  cancelPayment: [({ payments }) => payments.cancel({ paymentId: "pay_1", ...notes })],
  refundPayment: [
    ({ payments }) => payments.refund({ paymentId: "pay_1", amount: 1 }),
    ({ payments }) => payments.refund({ paymentId: "pay_1", amount: 1, ...notes }),
  ],
  getPayment: [({ payments }) => payments.get("pay_1")],
  listPayments: [({ payments }) => payments.list({ ...filters, walletId: "wal_1", status: "PAID" })],
  updatePayment: [({ payments }) => payments.update("pay_1", change)],
  updatePaymentRefund: [({ payments }) => payments.updateRefund("prf_1", change)],
  updatePaymentCancellation: [({ payments }) => payments.updateCancellation("pcl_1", change)],
  createTransaction: [
    ({ transactions }) =>
      transactions.create({ ...transaction, paymentType: "INSTANT", txHash: `0x${"4e".repeat(32)}` }),
    ({ transactions }) =>
      transactions.create({
        ...transaction,
        paymentType: "SCHEDULED",
        scheduledAt: inAnHour,
        fromNetworkType: "BASE_SEPOLIA",
      }),
  ],
  getTransaction: [({ transactions }) => transactions.get("txn_1")],
  listTransactions: [
    ({ transactions }) => transactions.list(),
    ({ transactions }) =>
      transactions.list({
        ...page,
        ...moments,
        status: "PENDING",
        paymentType: "SCHEDULED",
        address: ADDRESS,
        reference: "order-7",
        minAmount: "0",
        maxAmount: "1000000",
        order: "desc",
      }),
  ],
  updateTransaction: [({ transactions }) => transactions.update("txn_1", change)],
  updateTransactionStatus: [
    ({ transactions }) => transactions.updateStatus("txn_1", { status: "CONFIRMED" }),
    ({ transactions }) => transactions.updateStatus("txn_1", { status: "FAILED", failureReason: "reverted" }),
  ],
  updateTransactionSchedule: [
    ({ transactions }) => transactions.updateSchedule("txn_1", { scheduledAt: inAnHour }),
  ],
  listEvents: [
    ({ events }) => events.list(),
    ({ events }) =>
      events.list({
        after: "6",
        types: ["payment.created", "payment.cancelled"],
        objectId: `pay_${"0".repeat(32)}`,
        order: "asc",
        limit: 5,
        wait: 20,
      }),
    ({ events }) => events.list({ types: "wallet.created", order: "desc" }),
  ],
  createWebhook: [
    ({ webhooks }) => webhooks.create({ url: "https://partner.example.com/" }),
    ({ webhooks }) =>
      webhooks.create({
        ...{ url: "https://partner.example.com/", eventTypes: ["payment.created"], description: "d" },
        ...{ status: "DISABLED", ordering: "object", after: "0" },
      }),
  ],
  listWebhooks: [({ webhooks }) => webhooks.list(), ({ webhooks }) => webhooks.list(page)],
  getWebhook: [({ webhooks }) => webhooks.get("whk_1")],
  updateWebhook: [({ webhooks }) => webhooks.update("whk_1", { status: "ENABLED", eventTypes: [] })],
  deleteWebhook: [({ webhooks }) => webhooks.delete("whk_1")],
  rotateWebhookSecret: [
    ({ webhooks }) => webhooks.rotateSecret("whk_1"),
    ({ webhooks }) => webhooks.rotateSecret("whk_1", { overlapSeconds: 60 }),
  ],
  testWebhook: [({ webhooks }) => webhooks.test("whk_1")],
  replayWebhook: [
    ({ webhooks }) => webhooks.replay("whk_1", { after: "1", upTo: "5" }),
    ({ webhooks }) => webhooks.replay("whk_1", { failed: true }),
  ],
  listDeliveries: [
    ({ webhooks }) => webhooks.listDeliveries("whk_1"),
    ({ webhooks }) => webhooks.listDeliveries("whk_1", { ...page, status: "FAILED" }),
  ],
  getEvent: [({ events }) => events.get("evt_1")],
  checkHealth: [(client) => client.checkHealth()],
};

test("the library has exactly the operations of the document", () => {
  expect(Object.keys(calls).sort()).toEqual(operations.map(({ id }) => id).sort());
});

test("an undocumented field of an answer is found at every level", () => {
  const { answer, example } = operations.find(({ id }) => id === "getPayment")!;
  const { data, ...around } = example as { data: { settlement: object } };
  const settlement = { ...data.settlement, added: 1 };
  expect(problems(answer, { ...around, data })).toEqual([]);
  for (const more of [{ data, added: 1 }, { data: { ...data, added: 1 } }, { data: { ...data, settlement } }])
    expect(problems(answer, { ...around, ...more })).toHaveLength(1);
});

describe.each(operations.map((operation) => [operation.id, operation] as const))("%s", (id, operation) => {
  test.each(calls[id]!.map((call, index) => [index + 1, call] as const))(
    "call %p sends the documented request",
    async (_number, call) => {
      const body = operation.example as { data: unknown };
      expect(problems(operation.answer, body)).toEqual([]);
      const { client, asked } = clientAnswered(Response.json(body, { status: operation.status }));
      const data = await call(client);
      expect(JSON.parse(JSON.stringify(data))).toEqual(body.data);
      expect(requestProblems(operation, asked[0]!)).toEqual([]);
    },
  );

  test("refusals become errors with their codes", async () => {
    for (const { status, code } of operation.refusals) {
      const error = { code, message: "No.", details: { retryAfterMs: 1 } };
      const body = {
        success: false,
        data: null,
        error,
        requestId: "req_1",
        timestamp: "2026-01-14T00:30:00.000Z",
      };
      const { client } = clientAnswered(Response.json(body, { status }));
      const thrown = await Promise.resolve(calls[id]![0]!(client)).catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(ServiceError);
      expect(thrown).toMatchObject({ ...error, status, requestId: "req_1" });
      expect(errorMeanings[code as ErrorCode].status).toBe(status);
    }
  });
});

function clientAnswered(answer: Response) {
  const { fetch, asked } = fakeFetch(answer);
  const options = { baseUrl: ORIGIN, apiKey: "wk_test_1", orgCode: "DEMO", maxRetries: 0, fetch };
  return { client: new ServiceClient(options), asked };
}

function requestProblems(operation: Operation, asked: Asked): string[] {
  return [
    ...placeProblems(operation, asked),
    ...headerProblems(operation, asked),
    ...bodyProblems(operation, asked),
  ];
}

function placeProblems({ method, path, parameters }: Operation, asked: Asked): string[] {
  const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
  const match = pattern.exec(asked.url.pathname);
  if (asked.method !== method || !match) return [`asked ${asked.method} ${asked.url.pathname}`];
  const inPath = Object.entries(match.groups ?? {});
  const inQuery = [...asked.url.searchParams];
  const of = (place: string, pairs: [string, string][]) =>
    pairs.flatMap(([name, text]) => {
      const parameter = parameters.find((one) => one.in === place && one.name === name);
      if (!parameter) return [`the ${place} has ${name}, which is not documented`];
      const value = parameter.schema.type === "integer" ? Number(text) : text;
      return problems(parameter.schema, value).map((problem) => `${name}${problem}`);
    });
  return [...of("path", inPath), ...of("query", inQuery)];
}

function headerProblems({ parameters, security }: Operation, { headers }: Asked): string[] {
  const isDocumented = (name: string) => parameters.some((one) => one.in === "header" && one.name === name);
  const expected: [string, boolean][] = [
    ["X-API-Key", security.length > 0],
    ["Wonrail-Version", isDocumented("Wonrail-Version")],
    ["X-Org-Code", isDocumented("X-Org-Code")],
    ["Idempotency-Key", isDocumented("Idempotency-Key")],
  ];
  return expected
    .filter(([name, isExpected]) => headers.has(name) !== isExpected)
    .map(([name, isExpected]) => `${name} is ${isExpected ? "missing" : "sent and not documented"}`);
}

function bodyProblems({ body }: Operation, asked: Asked): string[] {
  if (body === undefined) return asked.body === undefined ? [] : ["a body is sent and not documented"];
  const type = asked.headers.get("content-type");
  return [
    ...(type === "application/json" ? [] : [`the content type is ${type}`]),
    ...problems(body, asked.body),
  ];
}
