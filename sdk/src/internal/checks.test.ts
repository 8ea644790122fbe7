import { fakeFetch, success } from "../../test/support/fakeFetch.ts";
import { ServiceClient } from "../client.ts";
import { NetworkType } from "../core/network.ts";
import type { TransactionCreateRequest } from "../resources/transactions.ts";

const ADDRESS = `0x${"ab".repeat(20)}`;
const HASH = `0x${"4e".repeat(32)}`;
const { fetch, asked } = fakeFetch(success({}));
const client = new ServiceClient({ baseUrl: "https://service", apiKey: "wk_test_1", fetch });

beforeEach(() => {
  asked.length = 0;
});

const instant = {
  paymentType: "INSTANT",
  txHash: HASH,
  fromAddress: ADDRESS,
  toAddress: ADDRESS,
  amount: "1000000",
} as const;
const scheduled = {
  paymentType: "SCHEDULED",
  scheduledAt: new Date(Date.now() + 60_000),
  fromAddress: ADDRESS,
  toAddress: ADDRESS,
  amount: "1",
} as const;

test.each<[string, object, string[]]>([
  ["an INSTANT without txHash", { ...instant, txHash: undefined }, ["txHash"]],
  ["a txHash that is none", { ...instant, txHash: "0x12" }, ["txHash"]],
  ["an amount with a point", { ...instant, amount: "1.0" }, ["amount"]],
  ["an amount of 79 digits", { ...instant, amount: "9".repeat(79) }, ["amount"]],
  ["a fee below zero", { ...instant, fee: "-1" }, ["fee"]],
  [
    "addresses that are none",
    { ...instant, fromAddress: "0x", toAddress: "bob" },
    ["fromAddress", "toAddress"],
  ],
  ["a memo of 201 characters", { ...instant, memo: "가".repeat(201) }, ["memo"]],
  ["a SCHEDULED without scheduledAt", { ...scheduled, scheduledAt: undefined }, ["scheduledAt"]],
  ["a time that is past", { ...scheduled, scheduledAt: "2020-01-01T00:00:00Z" }, ["scheduledAt"]],
  ["a time without zone", { ...scheduled, scheduledAt: "2030-01-01T00:00:00" }, ["scheduledAt"]],
  ["a time without seconds", { ...scheduled, scheduledAt: "2030-01-01T00:00Z" }, ["scheduledAt"]],
  ["a day that no month has", { ...scheduled, scheduledAt: "2030-02-30T00:00:00Z" }, ["scheduledAt"]],
  ["a time that is none", { ...scheduled, scheduledAt: new Date(NaN) }, ["scheduledAt"]],
  ["two networks in a SCHEDULED", { ...scheduled, toNetworkType: "BASE_SEPOLIA" }, ["toNetworkType"]],
  ["no payment type", { ...instant, paymentType: undefined }, ["paymentType"]],
])("refuses %s before sending, with REQ_001 and the field", async (_name, request, paths) => {
  const error = await client.transactions
    .create(request as TransactionCreateRequest)
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    name: "InvalidRequestError",
    code: "REQ_001",
    status: 400,
    requestId: undefined,
  });
  expect(
    (error as { details: { fields: { path: string }[] } }).details.fields.map(({ path }) => path),
  ).toEqual(paths);
  expect(asked).toHaveLength(0);
});

test("the client's network fills a missing one, with the test network as default", async () => {
  const network = { type: NetworkType.WON_MAINNET };
  const inProduction = new ServiceClient({ baseUrl: "https://service", apiKey: "wk_live_1", fetch, network });
  await inProduction.transactions.create(instant);
  expect(asked[0]!.body).toMatchObject({ fromNetworkType: "WON_MAINNET", toNetworkType: "WON_MAINNET" });
});

test("the default network is filled in, and a Date becomes a string", async () => {
  await client.transactions.create(scheduled);
  expect(asked[0]!.body).toEqual({
    ...scheduled,
    scheduledAt: scheduled.scheduledAt.toISOString(),
    fromNetworkType: "WON_TESTNET",
    toNetworkType: "WON_TESTNET",
  });
});

test("the destination network defaults to the source's", async () => {
  await client.transactions.create({ ...instant, fromNetworkType: "BASE_SEPOLIA" });
  expect(asked[0]!.body).toMatchObject({ fromNetworkType: "BASE_SEPOLIA", toNetworkType: "BASE_SEPOLIA" });
});

test.each<[string, () => PromiseLike<unknown>]>([
  ["TRF_002", () => client.transfers.create({ fromWalletId: "wal_1", toWalletAddress: "0x1", amount: 1 })],
  ["REQ_001", () => client.transfers.create({ fromWalletId: "wal_1", toWalletAddress: ADDRESS, amount: 0 })],
  [
    "REQ_001",
    () => client.transfers.create({ fromWalletId: "wal_1", toWalletAddress: ADDRESS, amount: 1.5 }),
  ],
  ["CHG_001", () => client.charges.create({ walletId: "wal_1", amount: 999 })],
  ["REQ_001", () => client.charges.create({ walletId: "wal_1", amount: 2 ** 53 })],
  ["REQ_001", () => client.charges.cancel({ chargeId: "chg_1", amount: 0 })],
  ["REQ_001", () => client.charges.refund({ walletId: "wal_1", memo: "m".repeat(201) })],
  [
    "PAY_002",
    () => client.payments.create({ payerWalletId: "wal_1", receiverWalletId: "wal_2", amount: 99 }),
  ],
  [
    "REQ_001",
    () =>
      client.payments.create({ payerWalletId: "w", receiverWalletId: "w", amount: 100, incentiveAmount: -1 }),
  ],
  [
    "REQ_001",
    () => client.wallets.update("wal_1", { metadata: { a: "", b: "", c: "", d: "", e: "", f: "" } }),
  ],
  ["REQ_001", () => client.transactions.updateSchedule("txn_1", { scheduledAt: "yesterday" })],
])("%s is refused before sending, as the service would", async (code, call) => {
  await expect(call()).rejects.toMatchObject({ code });
  expect(asked).toHaveLength(0);
});

test("a past schedule is left to the service, because a repeated change may be old", async () => {
  const scheduledAt = "2020-01-01T00:00:00Z";
  await client.transactions.updateSchedule("txn_1", { scheduledAt });
  expect(asked[0]).toMatchObject({ method: "PATCH", body: { scheduledAt } });
});

test.each([".", "..", "a/b", "a?b", "%2e%2e", "x".repeat(65)])(
  "the id %p does not lead to another path",
  async (id) => {
    await expect(client.transactions.get(id)).rejects.toMatchObject({ code: "TX_001", status: 404 });
    await expect(client.wallets.get(id)).rejects.toMatchObject({ code: "WAL_002" });
    expect(asked).toHaveLength(0);
  },
);
