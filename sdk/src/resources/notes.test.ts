import { type Answer, fakeFetch, success } from "../../test/support/fakeFetch.ts";
import { ServiceClient } from "../client.ts";

const KEY = "wk_test_0Ab3Cd6Ef9Gh_0123456789ABCDEFGHIJKLMNOPQRSTUV0AbC3d";

function clientOf(...answers: Answer[]) {
  const { fetch, asked } = fakeFetch(...answers);
  return { client: new ServiceClient({ baseUrl: "https://service", apiKey: KEY, fetch }), asked };
}

const empty = () => success({ items: [], pagination: { hasNext: false } });

test("a command sends its reference and metadata", async () => {
  const { client, asked } = clientOf(success({}));
  const request = { walletId: "wal_1", amount: 1_000, reference: "order-7", metadata: { till: "3" } };
  await client.charges.create(request);
  expect(asked[0]!.body).toEqual(request);
});

test.each<[string, object, string]>([
  ["an empty reference", { reference: "" }, "reference"],
  ["a reference of 101 characters", { reference: "r".repeat(101) }, "reference"],
  ["a number as a reference", { reference: 7 }, "reference"],
  ["eleven pairs", { metadata: Object.fromEntries([..."abcdefghijk"].map((key) => [key, ""])) }, "metadata"],
  ["a number as a value", { metadata: { till: 3 } }, "metadata"],
  ["an array", { metadata: ["a"] }, "metadata"],
])("%s is refused before sending", async (_name, notes, path) => {
  const { client, asked } = clientOf(success({}));
  const request = { walletId: "wal_1", amount: 1_000, ...notes };
  await expect(client.charges.create(request)).rejects.toMatchObject({
    ...{ code: "REQ_001", details: { fields: [{ path }] } },
  });
  expect(asked).toEqual([]);
});

test("each object's metadata is changed at its own path, and null deletes a pair", async () => {
  const { client, asked } = clientOf(success({}));
  const change = { metadata: { till: "4", shop: null } };
  await client.transfers.update("trf_1", change);
  await client.charges.update("chg_1", change);
  await client.charges.updateCancellation("ccl_1", change);
  await client.charges.updateRefund("rfd_1", change);
  await client.payments.update("pay_1", change);
  await client.payments.updateCancellation("pcl_1", change);
  await client.payments.updateRefund("prf_1", change);
  await client.transactions.update("txn_1", change);
  expect(asked.map(({ method, url, body }) => [method, url.pathname, body])).toEqual([
    ["PATCH", "/api/wallets/transfer/trf_1", change],
    ["PATCH", "/api/wallets/charge/chg_1", change],
    ["PATCH", "/api/wallets/charge/cancel/ccl_1", change],
    ["PATCH", "/api/wallets/charge/refund/rfd_1", change],
    ["PATCH", "/api/wallets/payment/pay_1", change],
    ["PATCH", "/api/wallets/payment/cancel/pcl_1", change],
    ["PATCH", "/api/wallets/payment/refund/prf_1", change],
    ["PATCH", "/api/transaction/txn_1", change],
  ]);
});

test("a change without metadata, or with other fields, is refused before sending", async () => {
  const { client, asked } = clientOf(success({}));
  for (const request of [{}, { metadata: null }, { metadata: {}, memo: "x" }])
    await expect(client.charges.update("chg_1", request as never)).rejects.toMatchObject({ code: "REQ_001" });
  expect(asked).toEqual([]);
});

test("lists send their filters, with times in ISO 8601", async () => {
  const { client, asked } = clientOf(empty());
  const from = new Date("2026-01-14T00:00:00Z");
  const filters = {
    reference: "order-7",
    settlementStatus: "CONFIRMED",
    minAmount: 1,
    order: "asc",
    from,
  } as const;
  await client.payments.list({ ...filters, status: "PAID" });
  await client.charges.listRefunds({ ...filters, walletId: "wal_1" });
  await client.transactions.list({ reference: "order-7", minAmount: "1000000", order: "asc" });
  await client.wallets.listAllTransactions({ ...filters, type: ["CHARGE", "REFUND"], status: "CHARGED" });
  await client.wallets.listTransactions("wal_1", { from, order: "asc" });
  expect(asked.map(({ url }) => [url.pathname, Object.fromEntries(url.searchParams)])).toEqual([
    ["/api/wallets/payment", { ...asText(filters), status: "PAID" }],
    ["/api/wallets/charge/refund", { ...asText(filters), walletId: "wal_1" }],
    ["/api/transaction", { reference: "order-7", minAmount: "1000000", order: "asc" }],
    ["/api/transactions", { ...asText(filters), type: "CHARGE,REFUND", status: "CHARGED" }],
    ["/api/wallets/wal_1/transactions", { from: from.toISOString(), order: "asc" }],
  ]);
  for (const refused of [
    client.payments.list({ reference: undefined } as never),
    client.wallets.listAllTransactions({ state: "PAID" } as never),
    client.wallets.listTransactions("wal_1", { status: "PAID" } as never),
  ])
    await expect(refused).rejects.toMatchObject({ code: "REQ_001" });
});

function asText(filters: { from: Date; minAmount: number }): Record<string, string> {
  return { ...filters, from: filters.from.toISOString(), minAmount: "1" };
}

test("the balance is read at a time, or now", async () => {
  const { client, asked } = clientOf(success({}));
  await client.wallets.getBalance("wal_1", { at: new Date("2026-01-14T00:00:00Z") });
  await client.wallets.getBalance("wal_1");
  expect(asked.map(({ url }) => url.pathname + url.search)).toEqual([
    "/api/wallets/wal_1/balance?at=2026-01-14T00%3A00%3A00.000Z",
    "/api/wallets/wal_1/balance",
  ]);
  await expect(client.wallets.getBalance("wal_1", { at: "yesterday" })).rejects.toMatchObject({
    code: "REQ_001",
  });
});
