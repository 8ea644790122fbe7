import { implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { Registry } from "@wonrail/kit/metrics";
import { eventually, testLog } from "@wonrail/kit/testing";
import {
  type CreatePayoutRequest,
  PaymentServiceService,
  Payout,
  PayoutMode,
  PayoutRowStatus,
  PayoutStatus,
} from "@wonrail/proto/payment/v1/payment";
import { exampleOf } from "./routes/errorExamples";
import { exampleId } from "./routes/exampleFixtures";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

// Requests of payouts that the gateway sends to payment, and the fields of its answers.

const at = new Date("2026-01-14T00:30:00.000Z");
const fromWalletId = exampleId("wal");
const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const made = Payout.fromPartial({
  ...{
    payoutId: "pyo_1",
    status: PayoutStatus.PENDING,
    mode: PayoutMode.ATOMIC,
    dryRun: false,
    fromWalletId,
  },
  ...{ totalAmountWon: "3", acceptedAmountWon: "0", rowCount: 2, createdAt: at },
});

let auth: FakeAuthServer;
let services: Awaited<ReturnType<typeof startGrpcServer>>;
let gateway: TestGateway;
let key: string;
const asked: CreatePayoutRequest[] = [];

beforeAll(async () => {
  auth = await startFakeAuthServer();
  services = await startGrpcServer({
    ...{ host: "127.0.0.1", port: 0, log: testLog(), registry: new Registry() },
    maxMessageBytes: 6 * 1024 * 1024,
    services: [
      implement(PaymentServiceService, {
        async createPayout(request) {
          asked.push(request);
          return { payout: made, replayed: asked.length > 1 };
        },
        listPayoutRows: async () => ({
          rows: [
            {
              ...{ index: 17, status: PayoutRowStatus.REFUSED },
              row: { toWalletAddress: ADDRESS, amountWon: "5", metadata: {}, idempotencyKey: "kim" },
              error: { code: "TRF_001", detailsJson: '{"available":1,"required":5}' },
            },
          ],
          page: { hasNext: false },
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

beforeEach(() => (asked.length = 0));

const post = (body: object, headers: Record<string, string> = {}) =>
  gateway.send("POST", "/api/payouts", { key, body, headers });

test("rows and the same rows as CSV are one request to payment, ATOMIC unless the body says otherwise", async () => {
  const rows = [
    { toWalletAddress: ADDRESS, amount: 1, memo: "a, b", reference: "r-1", idempotencyKey: "kim" },
    { toWalletAddress: ADDRESS, amount: 2 },
  ];
  const csv = `amount,toWalletAddress,memo,reference,idempotencyKey\r\n1,${ADDRESS},"a, b",r-1,kim\r\n2,${ADDRESS},,,\r\n`;
  const answer = await post({ fromWalletId, rows });
  expect([answer.status, answer.body.data]).toEqual([
    201,
    {
      ...{ payoutId: "pyo_1", status: "PENDING", mode: "ATOMIC", dryRun: false, fromWalletId },
      ...{ totalAmount: 3, acceptedAmount: 0, rowCount: 2, acceptedCount: 0, refusedCount: 0 },
      ...{ skippedCount: 0, createdAt: at.toISOString(), completedAt: null },
    },
  ]);
  await post({ fromWalletId, csv });
  expect(asked[0]).toMatchObject({
    ...{ fromWalletId, mode: PayoutMode.ATOMIC, dryRun: false },
    rows: [
      { toWalletAddress: ADDRESS, amountWon: "1", memo: "a, b", reference: "r-1", idempotencyKey: "kim" },
      { toWalletAddress: ADDRESS, amountWon: "2", metadata: {} },
    ],
  });
  expect(asked[1]).toEqual(asked[0]);
});

test("an Idempotency-Key goes along with the hash of the body, and a replay is marked", async () => {
  const body = {
    fromWalletId,
    mode: "BEST_EFFORT",
    dryRun: true,
    rows: [{ toWalletAddress: ADDRESS, amount: 1 }],
  };
  await post(body, { "Idempotency-Key": "november" });
  const again = await post(body, { "Idempotency-Key": "november" });
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect(asked[0]).toMatchObject({ idempotencyKey: "november", mode: PayoutMode.BEST_EFFORT, dryRun: true });
  expect(asked[0]!.bodyHash).toHaveLength(32);
  expect(asked[1]).toEqual(asked[0]);
});

test("ten thousand rows with long notes pass, and nothing else of the API takes so large a body", async () => {
  const row = { toWalletAddress: ADDRESS, amount: 1, memo: "m".repeat(200), reference: "r".repeat(90) };
  const rows = Array<object>(10_000).fill(row);
  expect((await post({ fromWalletId, rows })).status).toBe(201);
  expect(asked[0]!.rows).toHaveLength(10_000);
  const charge = await gateway.send("POST", "/api/wallets/charge", {
    key,
    body: { walletId: fromWalletId, rows },
  });
  expect([charge.status, charge.body.error!.details]).toEqual([413, { maxBytes: 65_536 }]);
});

test("a wrong row is named, of many wrong rows the first hundred", async () => {
  const good = { toWalletAddress: ADDRESS, amount: 1 };
  const one = await post({ fromWalletId, rows: [good, { ...good, amount: 0 }] });
  expect(one.body.error).toMatchObject({
    ...{ code: "REQ_001", details: { fields: [{ path: "rows[1].amount", message: "must be at least 1" }] } },
  });
  const ofFile = await post({ fromWalletId, csv: `toWalletAddress,amount\n${ADDRESS},1\n${ADDRESS},=1+1` });
  expect(ofFile.body.error!.details).toEqual({
    fields: [{ path: "csv[1].amount", message: "must be a number" }],
  });
  const many = await post({ fromWalletId, rows: Array(500).fill({ ...good, amount: -1 }) });
  expect(many.body.error!.details!.fields).toHaveLength(100);
  expect(asked).toEqual([]);
});

test("a refused row shows the code, the message and the details of its refusal", async () => {
  const { body } = await gateway.send("GET", `/api/payouts/${exampleId("pyo")}/rows?status=REFUSED`, { key });
  expect(body.data!.items).toEqual([
    {
      ...{ index: 17, status: "REFUSED", toWalletAddress: ADDRESS, amount: 5, idempotencyKey: "kim" },
      ...{ memo: null, reference: null, metadata: {}, transferId: null },
      error: {
        code: "TRF_001",
        message: expect.stringContaining("balance"),
        details: { available: 1, required: 5 },
      },
    },
  ]);
});

describe("memos of the sandbox", () => {
  const memos = ["sandbox:TRF_001", "sandbox:settlement_failed", "salary"];
  const withMemos = (texts: string[]) => texts.map((memo) => ({ toWalletAddress: ADDRESS, amount: 1, memo }));
  const asCsv = (texts: string[]) =>
    ["toWalletAddress,amount,memo", ...texts.map((memo) => `${ADDRESS},1,${memo}`)].join("\n");
  const refusals = () => asked[0]!.rows.map(({ rehearsedRefusal }) => rehearsedRefusal);

  test.each([
    ["rows", { fromWalletId, rows: withMemos(memos) }],
    ["CSV", { fromWalletId, csv: asCsv(memos) }],
  ])("a row of %s is sent with the refusal that its memo names", async (_form, body) => {
    expect((await post(body)).status).toBe(201);
    const { details } = exampleOf("TRF_001").error;
    const refusal = { code: "TRF_001", detailsJson: JSON.stringify(details) };
    expect(refusals()).toEqual([refusal, undefined, undefined]);
  });

  test.each([
    ["rows", { fromWalletId, rows: withMemos(["salary", "sandbox:PAY_001"]) }],
    ["csv", { fromWalletId, csv: asCsv(["salary", "sandbox:PAY_001"]) }],
  ])("a memo of %s that names no error of a row is refused with its place", async (path, body) => {
    const answer = await post(body);
    expect([answer.status, answer.body.error]).toMatchObject([
      400,
      {
        code: "REQ_001",
        details: { fields: [{ path: `${path}[1].memo`, message: expect.stringContaining("TRF_001") }] },
      },
    ]);
    expect(asked).toEqual([]);
  });

  test("a memo of a live key is plain text", async () => {
    const live = auth.addKey({}, "live").text;
    const body = { fromWalletId, rows: withMemos([...memos, "sandbox:PAY_001"]) };
    expect((await gateway.send("POST", "/api/payouts", { key: live, body })).status).toBe(201);
    expect(refusals()).toEqual([undefined, undefined, undefined, undefined]);
  });
});

const rows = (json: string) => `{"fromWalletId":"${fromWalletId}","rows":[${json}]}`;
const csv = (text: string) => JSON.stringify({ fromWalletId, csv: text });

test.each([
  ["one byte over 4 MiB", `{"csv":"${"x".repeat(4 * 1024 * 1024 - 9)}"}`, "REQ_006"],
  ["10,001 rows", rows(`${"1,".repeat(10_000)}1`), "REQ_001"],
  ["rows that are wrong in 30,000 ways", rows(Array(10_000).fill('{"a":1,"b":2}').join()), "REQ_001"],
  ["a CSV of two million quotes", csv('"'.repeat(2_000_000)), "REQ_001"],
  ["a CSV of four million commas", csv(",".repeat(4_000_000)), "REQ_001"],
])("%s is refused without a call to payment", async (_name, body, code) => {
  const answer = await gateway.send("POST", "/api/payouts", { key, body });
  expect([answer.body.error!.code, asked]).toEqual([code, []]);
});

test("10,000 items pass for a payout alone", async () => {
  const body = `{"walletId":"${fromWalletId}","amount":[${"1,".repeat(999)}1]}`;
  const { error } = (await gateway.send("POST", "/api/wallets/charge", { key, body })).body;
  expect(error!.details!.fields).toEqual([
    { path: "(body)", message: "has more than 100 items in an array" },
  ]);
});
