import { type DomainError } from "@wonrail/kit/contract/errors";
import { type z } from "zod";
import { createPayment } from "../routes/payments";
import { exampleId } from "../routes/exampleFixtures";
import { createTransaction, updateTransactionStatus } from "../routes/transactions";
import { createTransfer, getTransfer } from "../routes/transfers";
import { createWallet, listWallets, listWalletTransactions } from "../routes/wallets";
import { replayWebhook } from "../routes/webhooks";
import { validate } from "./validate";

const wallet = exampleId("wal");
const address = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
const payment = { payerWalletId: wallet, receiverWalletId: wallet, amount: 12_000 };
const transfer = { fromWalletId: wallet, toWalletAddress: address, amount: 1 };
const instant = {
  fromNetworkType: "WON_TESTNET",
  toNetworkType: "BASE_SEPOLIA",
  paymentType: "INSTANT",
  fromAddress: address,
  toAddress: address,
  txHash: `0x${"4e".repeat(32)}`,
  amount: "1000000",
};
const { txHash: _, ...unsent } = instant;
const scheduled = {
  ...unsent,
  paymentType: "SCHEDULED",
  toNetworkType: "WON_TESTNET",
  scheduledAt: "2030-01-01T00:00:00+09:00",
};

function refusal(schema: z.ZodType, value: unknown, place: "body" | "query" = "body"): DomainError {
  try {
    validate(schema, value, place);
  } catch (error) {
    return error as DomainError;
  }
  throw new Error("was accepted");
}

test("a missing time is reported as required, and a malformed one with the expected format", () => {
  const of = (scheduledAt?: string) => refusal(createTransaction.body, { ...scheduled, scheduledAt }).details;
  const saying = (message: string) => ({ fields: [{ path: "scheduledAt", message }] });
  expect(of()).toEqual(saying("is required"));
  expect(of("2030-01-01T00:00Z")).toEqual(saying("must be an ISO 8601 date-time with seconds and a zone"));
});

test("reports every problem at once", () => {
  const error = refusal(createPayment.body, { payerWalletId: 7, amount: "100", memo: null, extra: true });
  expect(error.code).toBe("REQ_001");
  expect(error.details).toEqual({
    fields: [
      { path: "payerWalletId", message: "must be a string" },
      { path: "receiverWalletId", message: "is required" },
      { path: "amount", message: "must be a number" },
      { path: "memo", message: "must be a string" },
      { path: "extra", message: "is not a field of this request" },
    ],
  });
});

test("a check with its own code applies only when every other check passes", () => {
  expect(refusal(createPayment.body, { ...payment, amount: 99 })).toMatchObject({
    code: "PAY_002",
    details: { fields: [{ path: "amount", message: "must be at least 100" }] },
  });
  expect(refusal(createPayment.body, { ...payment, amount: 99, memo: 5 }).code).toBe("REQ_001");
});

test.each(["wal_1", "", exampleId("pay"), `${wallet}0`.padEnd(70_000, "0"), "wal_\u0000"])(
  "an id that cannot be one is answered as one that does not exist",
  (id) => {
    const noWallet = refusal(createPayment.body, { ...payment, receiverWalletId: id });
    expect([noWallet.code, noWallet.details]).toEqual(["WAL_002", { walletId: id }]);
    const noTransfer = refusal(getTransfer.params, { transferId: id });
    expect([noTransfer.code, noTransfer.details]).toEqual(["TRF_005", null]);
  },
);

test("a malformed id answers 404 whatever the other fields hold", () => {
  for (const amount of [99, -1, 0.5, "100", null]) {
    const absent = refusal(createPayment.body, { ...payment, payerWalletId: "wal_1", amount });
    expect([amount, absent.code, absent.details]).toEqual([amount, "WAL_002", { walletId: "wal_1" }]);
  }
});

test.each<[string, z.ZodType, unknown, string]>([
  ["a payment of 99", createPayment.body, { ...payment, amount: 99 }, "PAY_002"],
  ["a payment of -1", createPayment.body, { ...payment, amount: -1 }, "PAY_002"],
  ["a payment of 100.5", createPayment.body, { ...payment, amount: 100.5 }, "REQ_001"],
  ["a negative incentive", createPayment.body, { ...payment, incentiveAmount: -1 }, "REQ_001"],
  [
    "a wallet id of the wrong kind",
    createPayment.body,
    { ...payment, payerWalletId: exampleId("pay") },
    "WAL_002",
  ],
  ["a transfer of 0", createTransfer.body, { ...transfer, amount: 0 }, "REQ_001"],
  [
    "an address of 41 characters",
    createTransfer.body,
    { ...transfer, toWalletAddress: address.slice(0, -1) },
    "TRF_002",
  ],
  [
    "an address of 43 characters",
    createTransfer.body,
    { ...transfer, toWalletAddress: `${address}0` },
    "TRF_002",
  ],
  [
    "an address with 0X",
    createTransfer.body,
    { ...transfer, toWalletAddress: address.replace("0x", "0X") },
    "TRF_002",
  ],
  ["a memo of 201 characters", createTransfer.body, { ...transfer, memo: "원".repeat(201) }, "REQ_001"],
  [
    "six pairs of metadata",
    createWallet.body,
    { userId: "u", walletType: "NORMAL", metadata: { a: "", b: "", c: "", d: "", e: "", f: "" } },
    "REQ_001",
  ],
  [
    "metadata that is no text",
    createWallet.body,
    { userId: "u", walletType: "NORMAL", metadata: { a: 1 } },
    "REQ_001",
  ],
  ...["", "k".repeat(41), "😀".repeat(41)].map((key): [string, z.ZodType, unknown, string] => [
    `metadata with ${[...key].length} characters for a key`,
    createWallet.body,
    { userId: "u", walletType: "NORMAL", metadata: { [key]: "v" } },
    "REQ_001",
  ]),
  [
    "metadata with a value of 501 emoji",
    createWallet.body,
    { userId: "u", walletType: "NORMAL", metadata: { k: "😀".repeat(501) } },
    "REQ_001",
  ],
  ["an empty userId", createWallet.body, { userId: "", walletType: "NORMAL" }, "REQ_001"],
  ["an unknown wallet type", createWallet.body, { userId: "u", walletType: "normal" }, "REQ_001"],
  ["INSTANT without txHash", createTransaction.body, unsent, "REQ_001"],
  ["an unknown payment type", createTransaction.body, { ...instant, paymentType: "LATER" }, "REQ_001"],
  [
    "SCHEDULED across networks",
    createTransaction.body,
    { ...scheduled, toNetworkType: "BASE_SEPOLIA" },
    "REQ_001",
  ],
  [
    "SCHEDULED without a zone",
    createTransaction.body,
    { ...scheduled, scheduledAt: "2030-01-01T00:00:00" },
    "REQ_001",
  ],
  ["an amount with a leading zero", createTransaction.body, { ...instant, amount: "01" }, "REQ_001"],
  ["an amount of 79 digits", createTransaction.body, { ...instant, amount: "9".repeat(79) }, "REQ_001"],
  ["an amount in Arabic digits", createTransaction.body, { ...instant, amount: "١٢" }, "REQ_001"],
  [
    "a reason for CONFIRMED",
    updateTransactionStatus.body,
    { status: "CONFIRMED", failureReason: "x" },
    "REQ_001",
  ],
  ["a list as a body", createPayment.body, [], "REQ_001"],
  ["no body", createPayment.body, undefined, "REQ_001"],
])("%s is refused", (_name, schema, value, code) => {
  const error = refusal(schema, value);
  expect(error.code).toBe(code);
  expect(JSON.stringify(error.details)).not.toContain("nvalid input");
});

test.each<[string, z.ZodType, unknown]>([
  [
    "a memo of 200 characters beyond the basic plane",
    createTransfer.body,
    { ...transfer, memo: "😀".repeat(200) },
  ],
  [
    "metadata with 40 emoji for a key and 500 for a value, of a user named with 128",
    createWallet.body,
    {
      userId: "😀".repeat(128),
      walletType: "NORMAL",
      metadata: { ["😀".repeat(40)]: "😀".repeat(500) },
    },
  ],
  ["an incentive of 0, of null, and left out", createPayment.body, { ...payment, incentiveAmount: null }],
  ["the largest amount that is exact", createTransfer.body, { ...transfer, amount: Number.MAX_SAFE_INTEGER }],
  ["an INSTANT transaction across networks", createTransaction.body, instant],
  ["a SCHEDULED transaction", createTransaction.body, scheduled],
  [
    "a transaction in production",
    createTransaction.body,
    { ...scheduled, fromNetworkType: "WON_MAINNET", toNetworkType: "WON_MAINNET" },
  ],
  ["an amount of 78 digits", createTransaction.body, { ...instant, amount: "1" + "0".repeat(77) }],
])("%s is accepted", (_name, schema, value) => {
  expect(() => validate(schema, value, "body")).not.toThrow();
});

describe("lists", () => {
  test("query strings become typed values", () => {
    const query = validate(
      listWalletTransactions.query,
      { limit: "100", currentPage: "3", type: "PAYMENT,INCENTIVE_USE", from: "2026-01-14T00:00:00Z" },
      "query",
    );
    expect(query).toEqual({
      limit: 100,
      currentPage: 3,
      type: ["PAYMENT", "INCENTIVE_USE"],
      from: new Date("2026-01-14T00:00:00Z"),
    });
  });

  test.each([
    [{ limit: "0" }, "limit"],
    [{ limit: "101" }, "limit"],
    [{ limit: "1e1" }, "limit"],
    [{ limit: " 5" }, "limit"],
    [{ limit: "" }, "limit"],
    [{ currentPage: "0" }, "currentPage"],
    [{ currentPage: "501" }, "currentPage"],
    [{ currentPage: "101", limit: "100" }, "currentPage"],
    [{ currentPage: "1", cursor: "abc" }, "cursor"],
    [{ cursor: "a b" }, "cursor"],
    [{ walletid: "x" }, "walletid"],
    [{ status: "active" }, "status"],
  ])("%j is refused at %s", (query, path) => {
    const { code, details } = refusal(listWallets.query, query, "query");
    expect(code).toBe("REQ_001");
    expect(details).toMatchObject({ fields: [{ path }] });
  });

  test.each([
    ["2026-01-14T00:00:00.266Z", "2026-01-14T00:00:00.266Z"],
    ["2026-01-14T00:00:00.266000Z", "2026-01-14T00:00:00.266Z"],
    ["2026-01-14T00:00:00.266999Z", "2026-01-14T00:00:00.267Z"],
    ["2026-01-14T00:00:00.2660000001Z", "2026-01-14T00:00:00.267Z"],
    ["2026-01-14T09:00:00.9991+09:00", "2026-01-14T00:00:01.000Z"],
    ["1969-12-31T23:59:59.9994Z", "1970-01-01T00:00:00.000Z"],
    ["2026-01-14T00:00:00.2Z", "2026-01-14T00:00:00.200Z"],
    ["9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z"],
  ])("%s is rounded up to %s", (given, read) => {
    const query = validate(listWalletTransactions.query, { from: given, to: given }, "query");
    expect(query).toEqual({ from: new Date(read), to: new Date(read) });
  });

  test.each([
    "9999-12-31T23:59:59-00:01",
    "9999-12-31T23:59:59-23:59",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
  ])("%s exceeds PostgreSQL's range and is refused once", (from) => {
    expect(refusal(listWalletTransactions.query, { from }, "query").details).toEqual({
      fields: [{ path: "from", message: "must be within the years 1 to 9999 in UTC" }],
    });
  });

  test.each([
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59+23:59",
    "0001-01-01T00:00:00Z",
    "0000-12-31T23:59:00-00:01",
  ])("%s is accepted", (from) => {
    expect(() => validate(listWalletTransactions.query, { from }, "query")).not.toThrow();
  });

  test("a page beyond ten thousand rows is refused with the advice to use a cursor", () => {
    expect(JSON.stringify(refusal(listWallets.query, { currentPage: "501" }, "query").details)).toContain(
      "cursor",
    );
    expect(() => validate(listWallets.query, { currentPage: "500" }, "query")).not.toThrow();
  });

  test("an unknown type is refused with the list of known types", () => {
    const { details } = refusal(listWalletTransactions.query, { type: "PAYMENT,NONE" }, "query");
    expect(JSON.stringify(details)).toContain("TRANSFER, CHARGE, CHARGE_CANCEL, PAYMENT");
  });
});

test.each(["amount", "fee"])("a record's %s is below 2^256", (field) => {
  const largest = (2n ** 256n - 1n).toString();
  const accepted = validate(createTransaction.body, { ...instant, [field]: largest }, "body");
  expect(accepted).toMatchObject({ [field]: largest });
  const refused = refusal(createTransaction.body, { ...instant, [field]: (2n ** 256n).toString() });
  expect([refused.code, refused.details]).toEqual([
    "REQ_001",
    { fields: [{ path: field, message: "must be less than 2^256, as on the chain" }] },
  ]);
});

test.each([
  [{ after: "1" }, "upTo", "is required"],
  [{ after: null, upTo: "2" }, "after", "must be a string"],
  [{ failed: false }, "failed", "must be true"],
  [{}, "(body)", "has none of the accepted forms"],
])("the replay %j is refused with the problem of the form that it has", (body, path, message) => {
  expect(refusal(replayWebhook.body, body).details).toEqual({ fields: [{ path, message }] });
});

test("a list whose start follows its end answers REQ_001 at from, and an empty span is accepted", () => {
  const span = (from: string, to: string) => ({ from, to });
  const [early, late] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
  const refused = refusal(listWalletTransactions.query, span(late, early), "query");
  expect([refused.code, refused.details]).toEqual([
    "REQ_001",
    { fields: [{ path: "from", message: "must not be after to" }] },
  ]);
  validate(listWalletTransactions.query, span(early, early), "query");
  validate(listWalletTransactions.query, span(early, late), "query");
});
