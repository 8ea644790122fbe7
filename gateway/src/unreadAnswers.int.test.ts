import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { eventually } from "@wonrail/kit/testing";
import { CONNECTION_LIMITS } from "./middleware/connections";
import { operation, route } from "./routes/operation";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

// Clients that send many requests and do not read the answers.

const LIMITS = {
  ...CONNECTION_LIMITS,
  maxQueuedBytes: 2 * 1024 * 1024,
  maxQueuedBytesInAll: 16 * 1024 * 1024,
};
const LARGE_BYTES = 256 * 1024;
/** The attackers call from 127.0.0.1. */
const GOOD_ADDRESS = "127.0.0.2";

const large = jest.fn(async () => ({ data: { text: "x".repeat(LARGE_BYTES) } }));
const largeRoute = route(
  "GET",
  "/test/large",
  operation({
    id: "largeTest",
    tag: "Wallets",
    summary: "For tests",
    access: "full",
    status: 200,
    data: z.strictObject({ text: z.string() }),
    errors: [],
  }),
  large,
);

let auth: FakeAuthServer;
let gateway: TestGateway;
let key: string;
let sockets: Socket[] = [];

beforeAll(async () => {
  auth = await startFakeAuthServer();
  gateway = await start();
  key = auth.addKey().text;
  await gateway.send("GET", "/test/probe", { key });
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

afterAll(async () => {
  await gateway.close();
  await auth.close();
});

async function start(limits: Partial<typeof LIMITS> = {}): Promise<TestGateway> {
  const started = await startGateway({
    authPort: auth.port,
    extraRoutes: [largeRoute],
    connectionLimits: { ...LIMITS, ...limits },
  });
  await eventually(() => started.ready());
  return started;
}

/** Without a listener for data the socket fills its buffers and reads no more. */
function sendUnread({ port }: TestGateway, path: string, count: number): Socket {
  const lines = [`GET ${path} HTTP/1.1`, "Host: x", `X-API-Key: ${key}`];
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(`${lines.join("\r\n")}\r\n\r\n`.repeat(count));
  sockets.push(socket);
  return socket;
}

function getAsGoodClient(
  path: string,
  headers = {},
): Promise<{ status: number; headers: object; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const options = { port: gateway.port, localAddress: GOOD_ADDRESS, path, headers, agent: false };
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    request.on("error", reject).end();
  });
}

async function queuedBytes({ registry }: TestGateway): Promise<number> {
  const text = await registry.getSingleMetricAsString("gateway_queued_answer_bytes");
  return Number(/^gateway_queued_answer_bytes (\d+)$/m.exec(text)![1]);
}

async function closedFor(reason: string, { registry }: TestGateway = gateway): Promise<number> {
  const text = await registry.getSingleMetricAsString("gateway_connections_closed_total");
  return Number(new RegExp(`reason="${reason}"\\} (\\d+)`).exec(text)![1]);
}

test.each(["/api/openapi.json", "/api/docs/scalar.js", "/test/large"])(
  "100 connections that request %s and never read leave the gateway serving and its queue bounded",
  async (path) => {
    const closedBefore = await closedFor("unread");
    const callsBefore = large.mock.calls.length;
    for (let index = 0; index < 100; index += 1) sendUnread(gateway, path, 20);
    const statuses = new Set<number>();
    let most = 0;
    for (let tries = 0; tries < 50; tries += 1) {
      const good = path === "/test/large" ? { "X-API-Key": key } : {};
      statuses.add((await getAsGoodClient(path, good)).status);
      most = Math.max(most, await queuedBytes(gateway));
    }
    expect([...statuses]).toEqual([200]);
    expect(most).toBeLessThanOrEqual(LIMITS.maxQueuedBytesInAll);
    if (path !== "/test/large") return;
    // The client requested 500 MB.
    await eventually(() => expect(large.mock.calls.length).toBeGreaterThan(callsBefore + 100));
    expect(await closedFor("unread")).toBeGreaterThan(closedBefore);
  },
);

test("pages that need no key are limited by the caller's address", async () => {
  const limited = await start();
  const statuses = new Set<number>();
  for (let rounds = 0; rounds < 50 && !statuses.has(429); rounds += 1) {
    const sent = Array.from({ length: 100 }, () => limited.send("GET", "/api/docs/page.js"));
    for (const { status } of await Promise.all(sent)) statuses.add(status);
  }
  await limited.close();
  expect([...statuses].sort()).toEqual([200, 429]);
});

test("a connection with more than 100 requests under way is closed and the others are not started", async () => {
  const callsBefore = large.mock.calls.length;
  const pipelinedBefore = await closedFor("pipelined");
  const socket = sendUnread(gateway, "/test/large", 200);
  await new Promise<void>((resolve) => socket.resume().once("close", () => resolve()));
  expect(await closedFor("pipelined")).toBe(pipelinedBefore + 1);
  expect(large.mock.calls.length - callsBefore).toBeLessThanOrEqual(100);
});

test("a client that reads nothing for the stall timeout is cut off", async () => {
  const impatient = await start({
    stallTimeoutMs: 500,
    maxQueuedBytes: 64 * 1024 * 1024,
    maxQueuedBytesInAll: 64 * 1024 * 1024,
  });
  sendUnread(impatient, "/test/large", 60);
  await eventually(async () => expect(await queuedBytes(impatient)).toBeGreaterThan(0));
  await eventually(async () => expect(await closedFor("stalled", impatient)).toBe(1));
  expect(await queuedBytes(impatient)).toBe(0);
  await impatient.close();
});

test("the document is compressed for clients that accept gzip and not sent again when unchanged", async () => {
  const plain = await getAsGoodClient("/api/openapi.json");
  const packed = await getAsGoodClient("/api/openapi.json", { "Accept-Encoding": "gzip, br" });
  expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
  expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
  expect(packed.body.length).toBeLessThan(plain.body.length / 4);
  const { etag } = packed.headers as { etag: string };
  const again = await getAsGoodClient("/api/openapi.json", {
    "Accept-Encoding": "gzip",
    "If-None-Match": etag,
  });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  const refused = await getAsGoodClient("/api/openapi.json", { "Accept-Encoding": "gzip;q=0" });
  expect(refused.headers).not.toHaveProperty("content-encoding");
});
