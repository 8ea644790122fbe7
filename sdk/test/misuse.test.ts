// Mistakes at run time: an undefined value or a misspelt name never widens a call.
import { ServiceClient } from "../src/index.ts";
import { fakeFetch, success } from "./support/fakeFetch.ts";

const { fetch, asked } = fakeFetch(success({ items: [], pagination: {} }));
const client = new ServiceClient({ baseUrl: "https://service", apiKey: "wk_test_1", fetch });
const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";
const payment = { payerWalletId: "wal_1", receiverWalletId: "wal_2", amount: 12_000 };
const transfer = { fromWalletId: "wal_1", toWalletAddress: ADDRESS, amount: 1_000 };
const key = { name: "shop", scopes: ["payments:read"] };
const record = { fromAddress: ADDRESS, toAddress: ADDRESS, amount: "1", paymentType: "INSTANT" };
const instant = { ...record, txHash: `0x${"4e".repeat(32)}` };

type Resource =
  | "auth"
  | "wallets"
  | "transfers"
  | "charges"
  | "payments"
  | "transactions"
  | "events"
  | "keys"
  | "webhooks";
type Call = [method: `${Resource}.${string}`, args: unknown[], problem: object];

beforeEach(() => {
  asked.length = 0;
});

function call(method: string, args: unknown[]): Promise<unknown> {
  const [resource, name] = method.split(".") as [Resource, string];
  const owner = client[resource] as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  return owner[name]!(...args);
}

const isUndefined = (path: string) => ({
  path,
  message: expect.stringMatching(/^is undefined: leave it out (for|to) .+, or give a value$/) as string,
});
const noKey = { idempotencyKey: undefined };
const missingKey = isUndefined("(header) Idempotency-Key");

test.each<Call>([
  ["charges.cancel", [{ chargeId: "chg_1", amount: undefined }], isUndefined("amount")],
  ["payments.create", [{ ...payment, incentiveAmount: undefined }], isUndefined("incentiveAmount")],
  ["auth.refreshKey", [{ secretKey: "sk_test_1", apiKey: undefined }], isUndefined("apiKey")],
  ["transactions.create", [{ ...instant, fromNetworkType: undefined }], isUndefined("fromNetworkType")],
  ["transactions.create", [{ ...instant, toNetworkType: undefined }], isUndefined("toNetworkType")],
  ["wallets.list", [{ userId: undefined }], isUndefined("userId")],
  ["wallets.list", [{ walletType: undefined }], isUndefined("walletType")],
  ["wallets.list", [{ status: undefined }], isUndefined("status")],
  ["wallets.listTransactions", ["wal_1", { type: undefined }], isUndefined("type")],
  ["wallets.listTransactions", ["wal_1", { from: undefined }], isUndefined("from")],
  ["wallets.listTransactions", ["wal_1", { to: undefined }], isUndefined("to")],
  ["transfers.list", [{ walletId: undefined }], isUndefined("walletId")],
  ["charges.list", [{ walletId: undefined }], isUndefined("walletId")],
  ["payments.list", [{ walletId: undefined }], isUndefined("walletId")],
  ["transactions.list", [{ status: undefined }], isUndefined("status")],
  ["transactions.list", [{ paymentType: undefined }], isUndefined("paymentType")],
  ["transactions.list", [{ address: undefined }], isUndefined("address")],
  ["transactions.list", [{ from: undefined }], isUndefined("from")],
  ["transactions.list", [{ to: undefined }], isUndefined("to")],
  ["events.list", [{ after: undefined }], isUndefined("after")],
  ["events.list", [{ types: undefined }], isUndefined("types")],
  ["keys.create", [{ ...key, allowedAddresses: undefined }], isUndefined("allowedAddresses")],
  ["keys.create", [{ ...key, expiresAt: undefined }], isUndefined("expiresAt")],
  ["webhooks.create", [{ url: "https://a.example", eventTypes: undefined }], isUndefined("eventTypes")],
  ["webhooks.listDeliveries", ["whk_1", { status: undefined }], isUndefined("status")],
  ["charges.create", [{ walletId: "wal_1", amount: 1_000 }, noKey], missingKey],
  ["charges.cancel", [{ chargeId: "chg_1" }, noKey], missingKey],
  ["charges.refund", [{ walletId: "wal_1" }, noKey], missingKey],
  ["payments.create", [payment, noKey], missingKey],
  ["payments.cancel", [{ paymentId: "pay_1" }, noKey], missingKey],
  ["payments.refund", [{ paymentId: "pay_1", amount: 1 }, noKey], missingKey],
  ["transfers.create", [transfer, noKey], missingKey],
  ["transactions.create", [instant, noKey], missingKey],
])(
  "%s given %p is refused: undefined would mean more than the caller knows",
  async (method, args, problem) => {
    await expect(call(method, args)).rejects.toMatchObject({
      code: "REQ_001",
      status: 400,
      details: { fields: [problem] },
    });
    expect(asked).toHaveLength(0);
  },
);

test("undefined is accepted for an optional field", async () => {
  await client.transfers.create({ ...transfer, memo: undefined }, { signal: undefined });
  await client.wallets.list({ limit: undefined, cursor: undefined }, { timeoutMs: undefined });
  expect(asked[0]!.body).toEqual(transfer);
  expect(asked[1]!.url.search).toBe("");
});

const nearest = (path: string, known: string) => ({
  path,
  message: `is not a known name: did you mean ${known}?`,
});

test.each<Call>([
  ["charges.cancel", [{ chargeId: "chg_1", ammount: 10 }], nearest("ammount", "amount")],
  ["charges.create", [{ walletID: "wal_1", amount: 1_000 }], nearest("walletID", "walletId")],
  ["charges.refund", [{ walletId: "wal_1", mem: "m" }], nearest("mem", "memo")],
  ["payments.create", [{ ...payment, incentiveAmout: 0 }], nearest("incentiveAmout", "incentiveAmount")],
  ["payments.cancel", [{ paymentid: "pay_1" }], nearest("paymentid", "paymentId")],
  ["payments.refund", [{ paymentId: "pay_1", ammount: 1 }], nearest("ammount", "amount")],
  ["transfers.create", [{ ...transfer, memmo: "m" }], nearest("memmo", "memo")],
  ["wallets.create", [{ userID: "u", walletType: "NORMAL" }], nearest("userID", "userId")],
  ["wallets.update", ["wal_1", { meta_data: {} }], nearest("meta_data", "metadata")],
  ["transactions.create", [{ ...instant, fees: "1" }], nearest("fees", "fee")],
  ["transactions.updateStatus", ["txn_1", { staus: "FAILED" }], nearest("staus", "status")],
  ["transactions.updateSchedule", ["txn_1", { scheduleAt: "x" }], nearest("scheduleAt", "scheduledAt")],
  ["auth.refreshKey", [{ secretkey: "s" }], nearest("secretkey", "secretKey")],
  ["wallets.list", [{ userid: "u" }], nearest("userid", "userId")],
  ["wallets.listTransactions", ["wal_1", { types: "REFUND" }], nearest("types", "type")],
  ["transfers.list", [{ wallet_id: "wal_1" }], nearest("wallet_id", "walletId")],
  ["charges.list", [{ walletID: "wal_1" }], nearest("walletID", "walletId")],
  ["payments.list", [{ walletIds: "wal_1" }], nearest("walletIds", "walletId")],
  ["transactions.list", [{ adress: ADDRESS }], nearest("adress", "address")],
])("%s given %p names the misspelt field and the nearest known one", async (method, args, problem) => {
  await expect(call(method, args)).rejects.toMatchObject({
    code: "REQ_001",
    details: { fields: expect.arrayContaining([problem]) as unknown },
  });
  expect(asked).toHaveLength(0);
});

test("a name without a similar known one is refused with the list of known names", async () => {
  const call = client.charges.refund({ walletId: "wal_1", quantity: 5 } as never);
  await expect(call).rejects.toMatchObject({
    details: {
      fields: [
        {
          path: "quantity",
          message: "is not a known name: known are walletId, memo, reference, metadata",
        },
      ],
    },
  });
});

test.each<Call>([
  ["charges.create", [{ walletId: "wal_1", amount: 1_000 }, { idempotencykey: "k" }], /idempotencyKey\?/],
  ["charges.create", [{ walletId: "wal_1", amount: 1_000 }, { idempotency_key: "k" }], /idempotencyKey\?/],
  ["payments.create", [payment, { timeout: 5 }], /unknown timeout: did you mean timeoutMs\?/],
  ["wallets.get", ["wal_1", { retries: 5 }], /did you mean maxRetries\?/],
  ["wallets.create", [{ userId: "u", walletType: "NORMAL" }, { idempotencykey: "k" }], /idempotencyKey\?/],
  ["wallets.list", [{}, { Signal: null }], /did you mean signal\?/],
  ["auth.getSession", [{ header: {} }], /did you mean headers\?/],
  ["transactions.waitForStatus", ["txn_1", () => true, { interval: 1 }], /did you mean intervalMs\?/],
  ["payments.waitFor", ["pay_1", () => true, { timeout: 1 }], /did you mean timeoutMs\?/],
])("%s given %p names the misspelt option and the nearest known one", async (method, args, message) => {
  await expect(call(method, args)).rejects.toMatchObject({
    code: "SDK_006",
    message: expect.stringMatching(message as RegExp) as string,
  });
  expect(asked).toHaveLength(0);
});

test.each([
  [{ baseURL: "https://service" }, /unknown baseURL: did you mean baseUrl\?/],
  [{ apikey: "wk_test_1" }, /did you mean apiKey\?/],
  [{ network: { rpcURL: "https://node" } }, /network has the unknown rpcURL: did you mean rpcUrl\?/],
  [{ network: { token: { adress: "0x1" } } }, /network\.token .* did you mean address\?/],
])("a client with %p names the misspelt option", (options, message) => {
  const given = { baseUrl: "https://service", apiKey: "wk_test_1", ...options };
  expect(() => new ServiceClient(given as never)).toThrow(message);
});

test.each<Call>([
  ["wallets.get", [undefined], { path: "walletId" }],
  ["wallets.get", [""], { path: "walletId" }],
  ["wallets.update", [undefined, { metadata: {} }], { path: "walletId" }],
  ["wallets.deactivate", [null], { path: "walletId" }],
  ["wallets.listTransactions", [undefined], { path: "walletId" }],
  ["transfers.get", [undefined], { path: "transferId" }],
  ["charges.get", [7], { path: "chargeId" }],
  ["charges.getRefund", [undefined], { path: "refundId" }],
  ["payments.get", [{}], { path: "paymentId" }],
  ["transactions.get", [undefined], { path: "id" }],
  ["transactions.updateStatus", [undefined, { status: "FAILED" }], { path: "id" }],
  ["transactions.updateSchedule", [undefined, { scheduledAt: "2030-01-01T00:00:00Z" }], { path: "id" }],
  ["transactions.waitForStatus", [undefined, () => true], { path: "id" }],
  ["transfers.waitFor", [undefined, () => true], { path: "transferId" }],
  ["charges.waitFor", [undefined, () => true], { path: "chargeId" }],
  ["payments.waitFor", [undefined, () => true], { path: "paymentId" }],
])("%s given %p names the missing id", async (method, args, problem) => {
  const failure: unknown = await call(method, args).catch((error: unknown) => error);
  const message = expect.stringMatching(/^must be an id, but is /) as string;
  expect(failure).toMatchObject({ code: "REQ_001", details: { fields: [{ ...problem, message }] } });
  expect(String(failure)).toMatch(
    /(walletId|transferId|chargeId|refundId|paymentId|id) must be an id, but is/,
  );
  expect(asked).toHaveLength(0);
});
