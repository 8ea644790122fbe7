import { request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { DomainError } from "@wonrail/kit/contract/errors";
import { Registry } from "@wonrail/kit/metrics";
import { eventually, testLog } from "@wonrail/kit/testing";
import {
  Direction,
  PaymentServiceService,
  type ReadStatementRequest,
  SettlementStatus,
  type WalletTransaction,
} from "@wonrail/proto/payment/v1/payment";
import { Wallet, WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { exampleId } from "./routes/exampleFixtures";
import { readSettlements, readStatements } from "./routes/reports/reports";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

// Streamed reports: their documents, and what the client sees when reading fails.

const at = new Date("2026-11-02T00:00:00Z");
const walletId = exampleId("wal");
const emptyWalletId = `wal_${"7".repeat(32)}`;
const entries = { firstSequence: 4n, endSequence: 90n };
const PERIOD = "from=2026-11-01T00:00:00Z&to=2026-11-03T00:00:00Z";
const DAY_MS = 24 * 3_600_000;

let auth: FakeAuthServer;
let services: Awaited<ReturnType<typeof startGrpcServer>>;
let gateway: TestGateway;
let key: ReturnType<FakeAuthServer["addKey"]>;
const asked: ReadStatementRequest[] = [];
/** Lines of the wallet, the call at which payment fails, and the delay of each call. */
let payment = { lines: 3, failAt: Infinity, closing: 3, delayMs: 0 };

beforeAll(async () => {
  auth = await startFakeAuthServer();
  services = await startGrpcServer({
    ...{ host: "127.0.0.1", port: 0, log: testLog(), registry: new Registry() },
    services: [
      implement(PaymentServiceService, {
        readStatement: answerStatement,
        async listTransactions({ page }) {
          if (page!.position!.$case === "cursor") {
            if (payment.failAt < Infinity) throw new DomainError("SYS_001");
            return { transactions: [{ ...lineOf(2), relatedId: "trf_2" }], page: { hasNext: false } };
          }
          // Two lines of one operation, on two wallets.
          const transactions = [lineOf(1), { ...lineOf(1), walletId: emptyWalletId }];
          return { transactions, page: { hasNext: true, nextCursor: "c" } };
        },
      }),
      implement(WalletServiceService, {
        async listWallets() {
          const late = new Date("2026-11-04T00:00:00Z");
          const made = (id: string, createdAt: Date) => Wallet.fromPartial({ walletId: id, createdAt });
          const wallets = [made("wal_3", late), made(emptyWalletId, at), made(walletId, at)];
          return { wallets, page: { hasNext: false } };
        },
      }),
    ],
  });
  gateway = await startGateway({ authPort: auth.port, servicesPort: services.port });
  await eventually(() => gateway.ready());
});

afterAll(async () => {
  await gateway.close();
  await services.drain(100);
  await auth.close();
});

beforeEach(() => {
  asked.length = 0;
  payment = { lines: 3, failAt: Infinity, closing: 3, delayMs: 0 };
  key = auth.addKey();
});

async function answerStatement(request: ReadStatementRequest) {
  asked.push(request);
  if (![walletId, emptyWalletId].includes(request.walletId))
    throw new DomainError("WAL_002", { walletId: request.walletId });
  if (asked.length > payment.failAt) throw new DomainError("SYS_001");
  await sleep(payment.delayMs);
  const lines = request.walletId === walletId ? payment.lines : 0;
  const first = Number(request.afterSequence ?? 0n);
  const end = Math.min(first + request.limit, lines);
  return {
    transactions: Array.from({ length: end - first }, (_, index) => lineOf(first + index + 1)),
    ...{ openingBalanceWon: "0", closingBalanceWon: String(lines && payment.closing), entries },
    nextAfterSequence: end < lines ? BigInt(end) : undefined,
  };
}

function lineOf(sequence: number): WalletTransaction {
  return {
    ...{ transactionId: `jrn_${"3".repeat(32)}-${sequence}`, type: "TRANSFER", direction: Direction.IN },
    ...{ amountWon: "1", balanceAfterWon: String(sequence), relatedId: "trf_1", walletId, createdAt: at },
    ...{ memo: "a memo", reference: "order-7", status: "COMPLETED" },
    settlement: { status: SettlementStatus.CONFIRMED, network: "N", txHash: "0xa", blockNumber: 7n },
  };
}

const pathOf = (query: string) => `/api/reports/${query}`;
const download = (query: string) =>
  fetch(`http://127.0.0.1:${gateway.port}${pathOf(query)}`, { headers: { "X-API-Key": key.text } });
const send = (query: string) => gateway.send("GET", pathOf(query), { key: key.text });
const manyLines = (lines: number) => (payment = { ...payment, lines, closing: lines });

test("each wallet that existed in the period has a statement, in the envelope of every answer", async () => {
  const response = await download(`statements?${PERIOD}`);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="statements.json"');
  const { success, data, requestId } = (await response.json()) as Record<string, never>;
  expect([success, requestId]).toEqual([true, response.headers.get("x-request-id")]);
  const { from, to, statements } = readStatements.data.parse(data);
  expect([from, to]).toEqual(["2026-11-01T00:00:00.000Z", "2026-11-03T00:00:00.000Z"]);
  expect(statements).toMatchObject([
    { walletId: emptyWalletId, openingBalance: 0, closingBalance: 0, transactions: [] },
    { walletId, openingBalance: 0, closingBalance: 3, transactions: [{}, {}, {}] },
  ]);
});

test("all pages and wallets of a report name the entries of its first answer", async () => {
  manyLines(625);
  await (await download(`statements?${PERIOD}`)).text();
  expect(asked.map((one) => [one.walletId, one.afterSequence, one.entries])).toEqual([
    [emptyWalletId, undefined, undefined],
    [walletId, undefined, entries],
    [walletId, 250n, entries],
    [walletId, 500n, entries],
  ]);
});

test("an absent wallet is refused before the first byte", async () => {
  const { status, body } = await send(`statements?${PERIOD}&walletId=wal_${"8".repeat(32)}`);
  expect([status, body.error!.code]).toEqual([404, "WAL_002"]);
});

test("an operation with several lines is one settlement", async () => {
  const { body } = await send(`settlements?${PERIOD}`);
  const { operations } = readSettlements.data.parse(body.data);
  expect(operations).toMatchObject([{ operationId: "trf_1" }, { operationId: "trf_2" }]);
  const { text } = await send(`settlements?${PERIOD}&format=csv`);
  expect(text.split("\r\n")).toEqual([
    "operationId,createdAt,type,amount,status,network,txHash,blockNumber",
    "trf_1,2026-11-02T00:00:00.000Z,TRANSFER,1,CONFIRMED,N,0xa,7",
    "trf_2,2026-11-02T00:00:00.000Z,TRANSFER,1,CONFIRMED,N,0xa,7",
    "END,,,,,,,",
    "",
  ]);
});

const from = (days: number) => `from=${new Date(Date.now() + days * DAY_MS).toISOString()}`;
test.each([
  ["a reversed period", "from=2026-11-03T00:00:00Z&to=2026-11-01T00:00:00Z", "to"],
  ["more than a year", "from=2025-01-01T00:00:00Z&to=2026-01-03T00:00:00Z", "to"],
  ["more than a year until now", from(-367), "from"],
  ["a start in the future", from(1), "from"],
  ["a start that is no time", "from=yesterday", "from"],
  ["an end that is no time", `${from(-1)}&to=2026-01-01`, "to"],
  ["an end in the future", `from=2026-11-01T00:00:00Z&to=9999-01-01T00:00:00Z`, "to"],
])("%s is refused", async (_name, period, field) => {
  for (const report of ["statements", "settlements"]) {
    const { status, body } = await send(`${report}?${period}`);
    expect([status, body.error]).toMatchObject([400, { details: { fields: [{ path: field }] } }]);
  }
});

test.each(["json", "csv", "camt053"])(
  "a %s report is cut when payment fails behind its first page",
  async (format) => {
    manyLines(5_000);
    payment.failAt = 3;
    const answer = await download(`statements?${PERIOD}&format=${format}`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
  },
);

test("a settlement report is cut when payment fails behind its first page", async () => {
  payment.failAt = 0;
  await expect(download(`settlements?${PERIOD}`).then((answer) => answer.text())).rejects.toThrow();
});

test("a report whose lines do not add up to its closing balance is cut, and counts as a failure", async () => {
  payment.closing = 4;
  await expect(download(`statements?${PERIOD}`).then((answer) => answer.text())).rejects.toThrow();
  await eventually(async () => {
    const { values } = await gateway.registry.getSingleMetric("http_requests_total")!.get();
    const labels = { method: "GET", route: pathOf("statements"), status_class: "5xx" };
    expect(values).toContainEqual(expect.objectContaining({ labels }));
  });
  expect(gateway.lines.join("")).toContain("do not add up");
});

test("a client that hangs up ends the reading", async () => {
  manyLines(1_000_000);
  payment.delayMs = 5;
  const stopped = new AbortController();
  const options = { headers: { "X-API-Key": key.text }, signal: stopped.signal };
  const answer = await fetch(`http://127.0.0.1:${gateway.port}${pathOf(`statements?${PERIOD}`)}`, options);
  await answer.body!.getReader().read();
  stopped.abort();
  await eventually(async () => {
    const before = asked.length;
    await sleep(200);
    expect(asked.length).toBe(before);
  });
  expect(asked.length).toBeLessThan(500);
});

test("a client that does not read holds up the reading", async () => {
  manyLines(1_000_000);
  const request = httpRequest({
    ...{ port: gateway.port, path: pathOf(`statements?${PERIOD}`), headers: { "X-API-Key": key.text } },
  });
  request.on("error", () => undefined);
  // Without a listener Node reads the answer and drops it.
  request.on("response", () => undefined);
  request.end();
  await eventually(async () => {
    const before = asked.length;
    await sleep(200);
    expect([asked.length > 1, asked.length]).toEqual([true, before]);
  });
  // The buffers of the two sockets hold the rest.
  expect(asked.length).toBeLessThan(100);
  request.destroy();
});

test("a report is cut when its key is revoked", async () => {
  manyLines(1_000_000);
  payment.delayMs = 5;
  const answer = await download(`statements?${PERIOD}`);
  await gateway.send("DELETE", "/api/wallet-auth/api-key", { key: key.text });
  await expect(answer.text()).rejects.toThrow();
  expect(asked.length).toBeLessThan(500);
});

test("a report goes on when its key is looked up again after the request's time", async () => {
  const config = { REQUEST_BUDGET_MS: 500 };
  const other = await startGateway({ authPort: auth.port, servicesPort: services.port, config });
  await eventually(() => other.ready());
  manyLines(10_000);
  payment.delayMs = 50;
  const headers = { "X-API-Key": key.text };
  const answer = await fetch(`http://127.0.0.1:${other.port}${pathOf(`statements?${PERIOD}`)}`, { headers });
  await sleep(700);
  const before = auth.calls.resolveKey!;
  auth.push({ change: { $case: "organisationChanged", value: { orgId: key.orgId, version: 2n } } });
  expect((await answer.text()).match(/"transactionId"/g)).toHaveLength(10_000);
  expect(auth.calls.resolveKey).toBeGreaterThan(before);
  await other.close();
});

test("an organisation reads five reports at once, and the next is refused", async () => {
  manyLines(1_000_000);
  payment.delayMs = 5;
  const open = await Promise.all(Array.from({ length: 5 }, () => download(`statements?${PERIOD}`)));
  const { status, body } = await send(`statements?${PERIOD}`);
  expect([status, body.error!.code]).toEqual([429, "RATE_001"]);
  await Promise.all(open.map(({ body: bytes }) => bytes!.cancel()));
  manyLines(1);
  await eventually(async () => expect((await send(`statements?${PERIOD}`)).status).toBe(200));
});

test("reports follow each other on one connection until the client closes it", async () => {
  const path = pathOf(`statements?${PERIOD}`);
  const get = (more: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key.text}\r\n${more}\r\n`;
  const { text } = await gateway.raw(`${get("")}${get("Connection: close\r\n")}`);
  expect(text.match(/"success":true/g)).toHaveLength(2);
});

test("HEAD answers with the head of the report", async () => {
  const url = `http://127.0.0.1:${gateway.port}${pathOf(`statements?${PERIOD}&format=csv`)}`;
  const answer = await fetch(url, { method: "HEAD", headers: { "X-API-Key": key.text } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
});
