import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { startHostileReceiver } from "../testing/hostileReceivers";
import { createSender, type Sender } from "./postDelivery";
import { createResolver } from "./resolveHost";

const POST = { headers: { "webhook-id": "evt_1" }, body: '{"type":"payment.created"}' };

const servers: Server[] = [];
const senders: Sender[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  for (const sender of senders.splice(0)) sender.close();
});

function sender(options: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const made = createSender({
    isLoopbackAllowed: true,
    resolve: createResolver(),
    timeoutMs: 500,
    ...options,
  });
  senders.push(made);
  return made;
}

async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

test("a receiver gets the body and the headers, and its 2xx is a success", async () => {
  let got: unknown;
  const url = await receiver((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      got = [
        request.method,
        request.url,
        request.headers["webhook-id"],
        request.headers["content-type"],
        body,
      ];
      response.writeHead(204, { "x-own": "1" }).end();
    });
  });
  const outcome = await sender().post({ ...POST, url });
  expect(got).toEqual(["POST", "/hook", "evt_1", "application/json", POST.body]);
  expect(outcome).toMatchObject({ isDelivered: true, isGone: false, statusCode: 204, error: null });
  expect(outcome.responseHead).toContain("x-own: 1");
});

const FAILURES: [string, RequestListener, object][] = [
  ["answers 410", (_, response) => void response.writeHead(410).end(), { statusCode: 410, isGone: true }],
  [
    "sends a head and then nothing",
    (_, response) => response.writeHead(200).flushHeaders(),
    { statusCode: null },
  ],
];

test.each(FAILURES)("a receiver that %s is a failed attempt", async (_, listener, expected) => {
  const url = await receiver(listener);
  expect(await sender().post({ ...POST, url })).toMatchObject({ isDelivered: false, ...expected });
});

test.each([
  ["answers 500", { statusCode: 500 }],
  ["hangs", { statusCode: null, error: "no answer within 500 ms" }],
  ["resets", { statusCode: null }],
  ["redirects", { statusCode: 302 }],
  ["answers 1 GB", { statusCode: 500 }],
  ["never reads", { statusCode: null, error: "no answer within 500 ms" }],
] as const)("a receiver that %s is a failed attempt, and gets one request", async (kind, expected) => {
  const hostile = await startHostileReceiver(kind);
  try {
    // More than the buffers of a connection hold, so that a receiver that never reads stops the writing.
    const body = "x".repeat(16 * 2 ** 20);
    const outcome = await sender().post({
      ...POST,
      body: kind === "never reads" ? body : POST.body,
      url: hostile.url,
    });
    expect(outcome).toMatchObject({ isDelivered: false, ...expected });
    expect(outcome.durationMs).toBeLessThan(5_000);
    expect(hostile.count()).toBe(1);
    expect(hostile.sentBytes()).toBeLessThan(32 * 2 ** 20);
    expect((outcome.responseHead ?? "").length).toBeLessThan(4_000);
  } finally {
    await hostile.close();
  }
});

test("an attempt keeps the line and the headers of the request", async () => {
  const url = await receiver((_, response) => void response.writeHead(204).end());
  const { requestHead } = await sender().post({ ...POST, url: `${url}?at=1` });
  expect(requestHead!.split("\n")).toEqual([
    "POST /hook?at=1",
    `host: ${new URL(url).host}`,
    "content-type: application/json",
    `content-length: ${POST.body.length}`,
    "user-agent: wonrail-webhooks/1",
    "webhook-id: evt_1",
  ]);
});

test("endpoints that hang leave connections for another endpoint of the same host", async () => {
  const url = await receiver((request, response) => {
    if (request.url === "/answers") response.writeHead(204).end();
  });
  const shared = sender({ timeoutMs: 20_000 });
  const hanging = Array.from({ length: 200 }, () => shared.post({ ...POST, url }));
  const outcome = await shared.post({ ...POST, url: url.replace("/hook", "/answers") });
  expect(outcome).toMatchObject({ isDelivered: true });
  for (const server of servers) server.closeAllConnections();
  await Promise.all(hanging);
});

/** A resolver that answers these addresses, and notes what it is asked for. */
function resolver(...addresses: string[]) {
  const calls: string[] = [];
  const resolve = async (hostname: string) => {
    calls.push(hostname);
    return addresses;
  };
  return { resolve, calls };
}

test("a name that leads to a private address is refused, also beside a public one", async () => {
  for (const addresses of [["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:169.254.169.254"]]) {
    const { resolve } = resolver(...addresses);
    const strict = sender({ isLoopbackAllowed: false, resolve });
    const outcome = await strict.post({ ...POST, url: "https://rebound.example/" });
    expect(outcome).toMatchObject({ isDelivered: false, statusCode: null });
    expect(outcome.error).toContain("not allowed");
  }
});

test("the connection goes to the address that was checked, and the name is resolved once for it", async () => {
  const url = new URL(await receiver((_, response) => void response.writeHead(204).end()));
  const { resolve, calls } = resolver("127.0.0.1");
  const local = sender({ resolve });
  // TLS fails at a plain receiver, which shows that the connection reached the checked address.
  const outcome = await local.post({ ...POST, url: `https://partner.example:${url.port}/hook` });
  expect(outcome.error).toMatch(/SSL|packet|wrong version|EPROTO|disconnected/i);
  expect(calls).toEqual(["partner.example"]);
});
