import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { errorTable, isErrorCode } from "@wonrail/kit/contract/errors";
import { eventually } from "@wonrail/kit/testing";
import { exampleId } from "./routes/exampleFixtures";
import { type FakeAuthServer, type KnownKey, startFakeAuthServer } from "./testing/fakeAuthServer";
import { type Case, hostileNotes } from "./testing/hostileNotes";
import { countedRoute } from "./testing/countedRoute";
import { type Answer, type SendOptions, startGateway, type TestGateway } from "./testing/startGateway";

// Mistakes and attacks of clients: each gets a coded answer, calls no service and reveals no secret.

let auth: FakeAuthServer;
let gateway: TestGateway;
/** Times out slow clients early. */
let hasty: TestGateway;
let own: KnownKey;
let foreign: KnownKey;
/** Handler of a route that moves money. */
const move = jest.fn(async () => ({ data: { done: true } }));

beforeAll(async () => {
  auth = await startFakeAuthServer();
  const extraRoutes = [countedRoute("/test/counted", undefined, move)];
  const timeouts = { headersTimeoutMs: 1_500, requestTimeoutMs: 3_000 };
  gateway = await startGateway({ authPort: auth.port, extraRoutes });
  hasty = await startGateway({ authPort: auth.port, extraRoutes, ...timeouts });
  await eventually(() => Promise.all([gateway.ready(), hasty.ready()]));
  own = auth.addKey();
  foreign = auth.addKey();
  await gateway.send("GET", "/test/probe", { key: own.text });
});

afterAll(async () => {
  await Promise.all([gateway.close(), hasty.close()]);
  await auth.close();
});

/** A valid charge; each case spoils one part. */
const walletId = exampleId("wal");
const good = { walletId, amount: 1_000 };

const LEAKS =
  /node_modules|\bat .*\.[jt]s:\d+|\.ts\b|SELECT |INSERT |relation |\/work|\/srv|Error:|SyntaxError|ZodError|Unexpected token/;

function expectRefusal(
  { status, headers, text, body }: Answer,
  wanted: [status: number, code: string],
): void {
  expect([status, body.error?.code]).toEqual(wanted);
  expect(Object.keys(body)).toEqual(["success", "data", "error", "requestId", "timestamp"]);
  expect([body.success, body.data]).toEqual([false, null]);
  expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(headers["x-request-id"]).toBe(body.requestId);
  expect(text).not.toMatch(LEAKS);
  const code = body.error!.code;
  expect(isErrorCode(code) && body.error!.message === errorTable[code].message).toBe(true);
}

/** Number of calls that could have changed data. No case may make one. */
function changes(): number {
  const { resolveKey: _key, leaseRate: _rate, ...rest } = auth.calls;
  return Object.values(rest).reduce((sum, calls) => sum + calls, 0);
}

const post = (name: string, options: SendOptions, wanted: [number, string] = [400, "REQ_001"]): Case => [
  name,
  "POST /api/wallets/charge",
  options,
  wanted,
];
const text = (name: string, body: string | Buffer, wanted?: [number, string]): Case =>
  post(name, { body }, wanted);

const cases: Case[] = [
  // Bodies that are no request.
  text("no body", ""),
  text("not JSON", "walletId=wal_1&amount=1000"),
  text("half of a JSON text", '{"walletId":"wal_'),
  text("two JSON texts", "{}{}"),
  text("a list", "[]"),
  text("a text", '"charge"'),
  text("null", "null"),
  text("a byte order mark", `\u{feff}${JSON.stringify(good)}`),
  text("bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  text("UTF-16", Buffer.from(JSON.stringify(good), "utf16le")),
  text("a surrogate encoded as UTF-8", Buffer.from('{"memo":"\xed\xa0\x80"}', "latin1")),

  // Bodies that are too much.
  text("10 MB", `{"memo":"${"x".repeat(10_000_000)}"}`, [413, "REQ_006"]),
  text("one byte over 64 KiB", `{"memo":"${"x".repeat(64 * 1024 - 10)}"}`, [413, "REQ_006"]),
  text("20 MB", Buffer.alloc(20_000_000, 0x20), [413, "REQ_006"]),
  text("200,000 levels, as many as fit", `{"a":${"[".repeat(60_000)}`),
  text("200,000 levels", "[".repeat(200_000), [413, "REQ_006"]),
  text("17 levels", `${"[".repeat(17)}${"]".repeat(17)}`),
  text("ten thousand keys", `{${Array.from({ length: 6_000 }, (_, i) => `"k${i}":1`).join(",")}}`),
  text("a number of 60,000 digits", `{"amount":${"9".repeat(60_000)}}`),

  // Bodies in another coat.
  post("a gzip bomb", { body: gzipSync(Buffer.alloc(50_000_000)), headers: { "Content-Encoding": "gzip" } }, [
    415,
    "REQ_007",
  ]),
  post("brotli", { body: "x", headers: { "Content-Encoding": "br" } }, [415, "REQ_007"]),
  post("a form", { body: "a=1", headers: { "Content-Type": "application/x-www-form-urlencoded" } }, [
    415,
    "REQ_007",
  ]),
  post("XML", { body: "<a/>", headers: { "Content-Type": "application/xml" } }, [415, "REQ_007"]),
  post("text/plain", { body: "{}", headers: { "Content-Type": "text/plain" } }, [415, "REQ_007"]),
  post("JSON in Latin-1", { body: "{}", headers: { "Content-Type": "application/json; charset=latin1" } }, [
    415,
    "REQ_007",
  ]),
  post(
    "a type that only looks like JSON",
    { body: "{}", headers: { "Content-Type": "application/json-seq" } },
    [415, "REQ_007"],
  ),
  post("no type", { body: "{}", headers: { "Content-Type": "" } }, [415, "REQ_007"]),

  // Keys and values that JSON.parse accepts silently.
  text("__proto__", '{"__proto__":{"isAdmin":true}}'),
  text("__proto__ with an escape", '{"\\u005f_proto__":{"isAdmin":true}}'),
  text("constructor.prototype", '{"constructor":{"prototype":{"isAdmin":true}}}'),
  text("a key given twice", `{"walletId":"${walletId}","amount":1000,"amount":1000000}`),
  text("a lone surrogate", `{"walletId":"${walletId}","amount":1000,"memo":"\\ud800"}`),
  text("a NUL", `{"walletId":"${walletId}","amount":1000,"memo":"a\\u0000b"}`),
  text("2^53 + 1", `{"walletId":"${walletId}","amount":9007199254740993}`),
  text("1e400", `{"walletId":"${walletId}","amount":1e400}`),
  text("1e3", `{"walletId":"${walletId}","amount":1e3}`),
  text("1000.0", `{"walletId":"${walletId}","amount":1000.0}`),

  // Fields.
  post("an amount as a text", { body: { ...good, amount: "1000" } }),
  post("an amount as null", { body: { ...good, amount: null } }),
  post("a missing field", { body: { amount: 1_000 } }),
  post("unknown fields that would be dangerous", {
    body: { ...good, orgId: "org_1", status: "CHARGED", balance: 1 },
  }),
  post("an amount below the minimum", { body: { ...good, amount: 999 } }, [400, "CHG_001"]),
  post("a wallet id with SQL in it", { body: { ...good, walletId: "' OR 1=1; --" } }, [404, "WAL_002"]),
  post("a memo of 201 characters", { body: { ...good, memo: "x".repeat(201) } }),

  // Paths, methods, queries.
  ["a path that is not there", "POST /api/charges", {}, [404, "REQ_004"]],
  ["a path that climbs", "GET /api/../../etc/passwd", {}, [404, "REQ_004"]],
  ["a method that is not there", "PATCH /api/wallets/charge", {}, [405, "REQ_005"]],
  ["OPTIONS", "OPTIONS /api/wallets/charge", {}, [405, "REQ_005"]],
  ["TRACE", "TRACE /api/wallets", {}, [405, "REQ_005"]],
  [
    "an override of the method",
    "GET /api/wallets/charge/cancel",
    { headers: { "X-HTTP-Method-Override": "POST" } },
    [405, "REQ_005"],
  ],
  ["bad percent-encoding in the path", "GET /api/wallets/%zz", {}, [400, "REQ_001"]],
  ["overlong UTF-8 in the path", "GET /api/wallets/%c0%ae%c0%ae", {}, [400, "REQ_001"]],
  ["bad percent-encoding in the query", "GET /api/wallets?userId=%zz", {}, [400, "REQ_001"]],
  ["a NUL in the query", "GET /api/wallets?userId=%00", {}, [400, "REQ_001"]],
  ["a parameter given twice", "GET /api/wallets?limit=1&limit=100", {}, [400, "REQ_001"]],
  ["a list as a parameter", "GET /api/wallets?status[]=ACTIVE", {}, [400, "REQ_001"]],
  ["__proto__ as a parameter", "GET /api/wallets?__proto__[isAdmin]=1", {}, [400, "REQ_001"]],
  ["a limit of a million", "GET /api/wallets?limit=1000000", {}, [400, "REQ_001"]],
  ["a page beyond ten thousand rows", "GET /api/wallets?currentPage=501", {}, [400, "REQ_001"]],
  [
    "a query of six thousand characters",
    `GET /api/wallets?userId=${"x".repeat(6_000)}`,
    {},
    [400, "REQ_001"],
  ],
  ["an id of the wrong form", "GET /api/wallets/1%27%20OR%201=1", {}, [404, "WAL_002"]],

  // Headers.
  ["headers of 9 KiB", "GET /api/wallets", { headers: { "X-Filler": "x".repeat(9_000) } }, [431, "REQ_006"]],
  post("an empty Idempotency-Key", { body: good, headers: { "Idempotency-Key": "" } }),
  post("an Idempotency-Key of 256 characters", {
    body: good,
    headers: { "Idempotency-Key": "k".repeat(256) },
  }),
  post("an Idempotency-Key with a tab", { body: good, headers: { "Idempotency-Key": "a\tb" } }),
  [
    "an expectation",
    "POST /api/wallets/charge",
    { body: "{}", headers: { Expect: "202-maybe" } },
    [417, "REQ_001"],
  ],
];

test.each([...cases, ...hostileNotes])("%s", async (_name, place, options, wanted) => {
  const [method, path] = place.split(" ", 2) as [string, string];
  const before = changes();
  const started = performance.now();
  expectRefusal(await gateway.send(method, path, { key: own.text, ...options }), wanted);
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(changes()).toBe(before);
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});

describe("foreign or malformed credentials:", () => {
  test.each<[string, () => SendOptions]>([
    ["code", () => ({ key: own.text, headers: { "X-Org-Code": foreign.orgCode } })],
    [
      "key beside the caller's own",
      () => ({ key: own.text, headers: { Authorization: `Bearer ${foreign.text}` } }),
    ],
    ["organisation in an internal header", () => ({ headers: { "X-Org-Id": foreign.orgId } })],
    [
      "key with one character changed",
      () => ({ key: `${foreign.text.slice(0, -1)}${foreign.text.endsWith("A") ? "B" : "A"}` }),
    ],
    ["key cut short", () => ({ key: foreign.text.slice(0, 30) })],
    ["key of 7,000 characters", () => ({ key: "k".repeat(7_000) })],
    ["key with SQL in it", () => ({ key: "wk_test_' OR '1'='1" })],
  ])("%s answers WAUTH_001", async (_name, options) => {
    expectRefusal(await gateway.send("GET", "/api/wallets", options()), [401, "WAUTH_001"]);
  });

  test("a key as a query parameter answers WAUTH_001", async () => {
    expectRefusal(await gateway.send("GET", `/api/wallets?apiKey=${foreign.text}`), [401, "WAUTH_001"]);
  });
});

describe("malformed HTTP:", () => {
  const head = (...lines: string[]) =>
    ["POST /api/wallets/charge HTTP/1.1", "Host: x", ...lines, "", ""].join("\r\n");

  test.each<[string, string, [number, string]]>([
    ["two lengths", head("Content-Length: 5", "Content-Length: 6") + "{}   ", [400, "REQ_001"]],
    [
      "a length and chunks",
      head("Content-Length: 2", "Transfer-Encoding: chunked") + "0\r\n\r\n",
      [400, "REQ_001"],
    ],
    ["chunks under a misspelt name", head("Transfer-Encoding: xchunked") + "0\r\n\r\n", [400, "REQ_001"]],
    ["a negative length", head("Content-Length: -1"), [400, "REQ_001"]],
    ["a length with a sign", head("Content-Length: +2") + "{}", [400, "REQ_001"]],
    [
      "a chunk whose size is no number",
      head("Transfer-Encoding: chunked") + "zz\r\n{}\r\n",
      [400, "REQ_001"],
    ],
    ["a folded header", head("X-A: 1", " Transfer-Encoding: chunked"), [400, "REQ_001"]],
    ["a space before the colon", head("Content-Length : 2") + "{}", [400, "REQ_001"]],
    ["a NUL in a header", head("X-A: a\0b"), [400, "REQ_001"]],
    ["bare line feeds", "GET /healthz HTTP/1.1\nHost: x\n\n", [400, "REQ_001"]],
    ["no host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", [400, "REQ_001"]],
    ["a method that nobody has", "STEAL / HTTP/1.1\r\nHost: x\r\n\r\n", [400, "REQ_001"]],
    ["TLS where there is none", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", [400, "REQ_001"]],
    ["a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", [405, "REQ_005"]],
    [
      "a target that is no URL",
      "GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      [404, "REQ_004"],
    ],
  ])("%s", async (_name, bytes, wanted) => {
    expectRefusal(await gateway.raw(Buffer.from(bytes, "latin1")), wanted);
  });

  test.each<[string, string, [number, string]]>([
    ["0 bytes count as no body", "0\r\n\r\n", [400, "REQ_001"]],
    ["2 bytes need a content type", "2\r\n{}\r\n0\r\n\r\n", [415, "REQ_007"]],
  ])("a chunked body without content type: %s", async (_name, chunks, wanted) => {
    const lines = [`X-API-Key: ${own.text}`, "Transfer-Encoding: chunked", "Connection: close"];
    expectRefusal(await gateway.raw(Buffer.from(head(...lines) + chunks, "latin1")), wanted);
  });

  test.each([
    ["a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405],
    [
      "another protocol",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
      200,
    ],
    ["an expectation", "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n", 417],
    ["a TLS handshake", "\x16\x03\x01\r\n\r\n", 400],
  ])(
    "a client that sends %s and resets the connection leaves the server working",
    async (_name, bytes, status) => {
      const socket = connect(gateway.port, "127.0.0.1").on("error", () => undefined);
      socket.write(bytes, "latin1");
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString()).toContain(`HTTP/1.1 ${status} `);
      socket.resetAndDestroy();
      await eventually(async () => {
        expect(await gateway.registry.getSingleMetricAsString("http_connections")).toMatch(
          /^http_connections 0$/m,
        );
      });
      expect((await gateway.send("GET", "/healthz")).status).toBe(200);
    },
  );

  test.each([
    ["stray bytes", "stray bytes"],
    ["a head that is too large", `GET / HTTP/1.1\r\nX-Filler: ${"x".repeat(9_000)}`],
    ["a head that never ends", "GET / HTTP/1.1\r\nX-Slow: "],
    ["a tunnel", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["an expectation", "GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n"],
  ])(
    "%s behind a running request end the connection without an answer in its place",
    async (_name, behind) => {
      let finish = () => {};
      const finished = new Promise<void>((resolve) => (finish = resolve));
      move.mockImplementationOnce(() => finished.then(() => ({ data: { done: true } })));
      const done = move.mock.calls.length + 1;
      const socket = connect(hasty.port, "127.0.0.1").setEncoding("utf8");
      let received = "";
      socket.on("data", (text: string) => (received += text)).on("error", () => undefined);
      const lines = [`X-API-Key: ${own.text}`, "Content-Type: application/json", "Content-Length: 12"];
      socket.write(["POST /test/counted HTTP/1.1", "Host: x", ...lines, "", '{"amount":1}'].join("\r\n"));
      await eventually(() => expect(move).toHaveBeenCalledTimes(done));
      socket.write(behind);
      await closed(socket);
      finish();
      expect(received).toBe("");
    },
  );

  test("a request smuggled in another's body is never served", async () => {
    const smuggled = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    const { text: received } = await gateway.raw(
      head("Content-Length: 4", "Transfer-Encoding: chunked") + `0\r\n\r\n${smuggled}`,
    );
    expect(received).not.toContain('"status":"ok"');
  });
});

describe("slow and incomplete clients", () => {
  test("a head that never ends is answered with 408 and closed", async () => {
    expectRefusal(await hasty.raw("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "), [408, "REQ_001"]);
  });

  test("a body that never ends is answered with 408 and closed", async () => {
    expectRefusal(await hasty.raw(chargeStartingWith("{")), [408, "REQ_001"]);
  });

  test("two hundred slow clients do not delay a normal one", async () => {
    const sockets = Array.from({ length: 200 }, () => connect(gateway.port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.on("error", () => undefined).write("GET / HTTP/1.1\r\nX-Slow: ");
    expect((await gateway.send("GET", "/healthz")).status).toBe(200);
    // The health check was answered while all slow clients were connected.
    expect(sockets.filter(({ closed }) => closed)).toHaveLength(0);
    for (const socket of sockets) socket.destroy();
  });

  test("a chunked body without end is answered, and cut off when it continues", async () => {
    const socket = connect(gateway.port, "127.0.0.1").setEncoding("utf8");
    let received = "";
    socket.on("data", (text: string) => (received += text)).on("error", () => undefined);
    const head = `POST /api/wallets/charge HTTP/1.1\r\nHost: x\r\nX-API-Key: ${own.text}\r\nContent-Type: application/json`;
    socket.write(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `100000\r\n${" ".repeat(0x100000)}\r\n`;
    const sending = setInterval(() => socket.write(chunk), 10);
    await closed(socket);
    clearInterval(sending);
    expect(received).toMatch(/^HTTP\/1.1 413 .*"code":"REQ_006"/s);
  });

  test("a client that leaves during its body leaves no open connection", async () => {
    const before = changes();
    const socket = connect(gateway.port, "127.0.0.1");
    socket.write(chargeStartingWith('{"a'));
    const inFlight = async (count: number) => {
      const metric = await gateway.registry.getSingleMetricAsString("http_requests_in_flight");
      expect(metric).toMatch(new RegExp(`http_requests_in_flight ${count}$`, "m"));
    };
    await eventually(() => inFlight(1));
    socket.destroy();
    await eventually(() => inFlight(0));
    expect(changes()).toBe(before);
  });
});

test("each refusal is logged as one line of valid JSON, whatever the request contained", async () => {
  const evil = 'a\r\n{"level":"fatal"}\u001b[31m';
  const before = gateway.lines.length;
  await gateway.send("POST", `/api/${encodeURIComponent(evil)}`, { key: own.text, body: { [evil]: evil } });
  await eventually(() =>
    expect(gateway.lines.slice(before).some((line) => line.includes('"code":"REQ_004"'))).toBe(true),
  );
  for (const line of gateway.lines) {
    expect(line.trimEnd()).not.toContain("\n");
    expect(() => JSON.parse(line) as unknown).not.toThrow();
  }
  expect(gateway.lines.some((line) => line.includes('"level":"error"'))).toBe(false);
});

function chargeStartingWith(body: string): string {
  const lines = [`X-API-Key: ${own.text}`, "Content-Type: application/json", "Content-Length: 50"];
  return ["POST /api/wallets/charge HTTP/1.1", "Host: x", ...lines, "", body].join("\r\n");
}

/** Waits for any end of the socket. `once` would reject on a broken pipe. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}
