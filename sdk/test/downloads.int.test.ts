// Reports over real connections: whole, refused and cut.
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { ServiceClient } from "../src/index.ts";

const FILE = "walletId,createdAt\r\nEND,\r\n";
const from = new Date("2026-11-01T00:00:00Z");

/** How the server answers each request, in order. */
let answers: ((res: ServerResponse) => void)[];
let asked: string[];
let client: ServiceClient;

const server = createServer((req, res) => {
  asked.push(req.url!);
  answers.shift()!(res);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new ServiceClient({ baseUrl, apiKey: "wk_test_1" });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
});

const whole = (res: ServerResponse) => void res.end(FILE);
const busy = (res: ServerResponse) => void res.writeHead(503, { "Retry-After": "0" }).end();
const begin = (res: ServerResponse) => void res.write(FILE.slice(0, 10));
const cut = (res: ServerResponse) => void res.write(FILE.slice(0, 10), () => res.destroy());
const refuse = (res: ServerResponse) => {
  const error = { code: "WAL_002", message: "Wallet not found.", details: null };
  res.writeHead(404).end(JSON.stringify({ success: false, data: null, error, requestId: "req_1" }));
};
const textOf = (file: ReadableStream<Uint8Array>) => new Response(file).text();

test("a download is a stream of the file's bytes, after a retry", async () => {
  answers = [busy, whole];
  const file = await client.reports.downloadStatements({ from, walletId: "wal_1", format: "csv" });
  expect(await textOf(file)).toBe(FILE);
  const query = "walletId=wal_1&format=csv&from=2026-11-01T00%3A00%3A00.000Z";
  expect(asked).toEqual(Array(2).fill(`/api/reports/statements?${query}`));
});

test("the stream of a cut download fails", async () => {
  answers = [cut];
  const file = await client.reports.downloadSettlements({ from, format: "csv" });
  await expect(textOf(file)).rejects.toThrow();
  expect(asked).toHaveLength(1);
});

test("a refused download is the error of any other call", async () => {
  answers = [refuse];
  const call = client.reports.downloadStatements({ from, format: "camt053" });
  await expect(call).rejects.toMatchObject({ code: "WAL_002", status: 404 });
});

test("the caller's signal ends a download that has begun", async () => {
  answers = [begin];
  const stopped = new AbortController();
  const options = { signal: stopped.signal };
  const file = await client.reports.downloadStatements({ from, format: "csv" }, options);
  const text = textOf(file);
  stopped.abort();
  await expect(text).rejects.toThrow();
});

test("an undefined walletId is refused, because it would mean all wallets", async () => {
  const query = { from, walletId: undefined as never, format: "csv" as const };
  await expect(client.reports.downloadStatements(query)).rejects.toMatchObject({ code: "REQ_001" });
  expect(asked).toEqual([]);
});
