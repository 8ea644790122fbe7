import { inspect } from "node:util";
import { type Answer, failure, fakeFetch, silence, success } from "../../test/support/fakeFetch.ts";
import { ServiceClient } from "../client.ts";
import type { ClientOptions } from "../core/clientOptions.ts";
import {
  AbortedError,
  ConflictError,
  ConnectionTimeoutError,
  InvalidRequestError,
  OutcomeUnknownError,
  RateLimitError,
  UnavailableError,
} from "../core/errors.ts";

const KEY = "wk_test_0Ab3Cd6Ef9Gh_0123456789ABCDEFGHIJKLMNOPQRSTUV0AbC3d";
const transfer = { fromWalletId: "wal_1", toWalletAddress: `0x${"ab".repeat(20)}`, amount: 1000 };
const dropped = () => new TypeError("fetch failed");

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

function clientOf(answers: Answer[], options: ClientOptions = {}) {
  const { fetch, asked } = fakeFetch(...answers);
  const client = new ServiceClient({
    baseUrl: "https://service/base/",
    apiKey: KEY,
    orgCode: "DEMO",
    fetch,
    ...options,
  });
  return { client, asked };
}

/** Passes all pauses and returns the result. */
async function settled<T>(promise: PromiseLike<T>) {
  const outcome = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await jest.advanceTimersByTimeAsync(600_000);
  return outcome as Promise<{ value?: T; error?: Error }>;
}

test("a request carries the key, the organisation and its own headers to the base path", async () => {
  const { client, asked } = clientOf([success({ items: [], pagination: {} })], {
    headers: { "x-team": "a" },
  });
  await client.wallets.list({ userId: "user 1", limit: 5 }, { headers: { "x-request-id": "mine" } });
  expect(asked[0]!.url.href).toBe("https://service/base/api/wallets?userId=user+1&limit=5");
  expect(Object.fromEntries(asked[0]!.headers)).toMatchObject({
    "x-api-key": KEY,
    "x-org-code": "DEMO",
    "x-team": "a",
    "x-request-id": "mine",
    "user-agent": "wonrail-sdk/1.0.0",
  });
});

test("a money call keeps one idempotency key over all attempts, and another call has another key", async () => {
  const { client, asked } = clientOf([dropped(), failure(503, "SYS_002"), success({})]);
  await settled(client.transfers.create(transfer));
  await settled(client.transfers.create(transfer));
  const keys = asked.map(({ headers }) => headers.get("idempotency-key"));
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(keys[3]).not.toBe(keys[0]);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(asked.map(({ headers }) => headers.get("x-retry-count"))).toEqual([null, "1", "2", null]);
});

test("every attempt sends the original request when the caller changes its object", async () => {
  const { client, asked } = clientOf([dropped(), success({})]);
  const given = { ...transfer, memo: "A" };
  const call = settled(client.transfers.create(given));
  given.amount = 999_999;
  given.memo = "B";
  await call;
  expect(asked.map(({ body }) => body)).toEqual([
    { ...transfer, memo: "A" },
    { ...transfer, memo: "A" },
  ]);
});

test("the caller's key is sent and is on the error", async () => {
  const { client, asked } = clientOf([failure(400, "TRF_001")]);
  const { error } = await settled(client.transfers.create(transfer, { idempotencyKey: "order-7" }));
  expect(asked[0]!.headers.get("idempotency-key")).toBe("order-7");
  expect(error).toMatchObject({
    code: "TRF_001",
    idempotencyKey: "order-7",
    requestId: "req_1",
    status: 400,
  });
});

test.each(["", "한글", "a\nb", " a", "a ".repeat(200)])(
  "refuses the idempotency key %p before sending",
  async (idempotencyKey) => {
    const { client, asked } = clientOf([success({})]);
    const { error } = await settled(client.transfers.create(transfer, { idempotencyKey }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(asked).toHaveLength(0);
  },
);

const page = (status: number, headers = {}) => new Response("<html>", { status, headers });
test.each<[string, Answer, number]>([
  ["a connection error", dropped(), 3],
  ["408", page(408), 3],
  ["429", failure(429, "RATE_001"), 3],
  ["502 of a proxy", page(502), 3],
  ["503", failure(503, "SYS_002"), 3],
  ["504", failure(504, "SYS_003"), 3],
  ["409 REQ_002", failure(409, "REQ_002"), 3],
  ["409 of another code", failure(409, "WAL_001"), 1],
  ["500", failure(500, "SYS_001"), 1],
  ["501", failure(501, "SYS_004"), 1],
  ["400", failure(400, "REQ_001"), 1],
  ["422", failure(422, "REQ_003"), 1],
  ["a success that is not ours", page(200), 1],
  ["a success under another status", success({}, { status: 400 }), 1],
  ["a redirect", page(302, { location: "http://elsewhere" }), 1],
])("%s: %p is sent %p times", async (_name, answer, times) => {
  const { client, asked } = clientOf([answer]);
  const { error } = await settled(client.transfers.create(transfer));
  expect(error).toBeDefined();
  expect(asked).toHaveLength(times);
});

test("a DELETE with a lost answer is sent once", async () => {
  const { client, asked } = clientOf([dropped()]);
  await settled(client.webhooks.delete("whk_1"));
  await settled(client.auth.revokeKey());
  expect(asked).toHaveLength(2);
});

test("a refresh with a lost answer is repeated for the same key, and the client adopts the new key", async () => {
  const { client, asked } = clientOf([
    dropped(),
    failure(504, "SYS_003"),
    success({ newApiKey: "wk_test_new", expiresAt: "" }),
  ]);
  const { value } = await settled(client.auth.refreshKey({ secretKey: "sk_test_1" }));
  expect(value).toMatchObject({ newApiKey: "wk_test_new" });
  const body = { apiKey: KEY, secretKey: "sk_test_1" };
  expect(asked.map((one) => one.body)).toEqual([body, body, body]);
  await settled(client.auth.getSession());
  expect(asked[3]!.headers.get("x-api-key")).toBe("wk_test_new");
});

test("a refresh without any answer keeps the client's key, and the next call repeats it", async () => {
  const { client, asked } = clientOf([dropped(), dropped(), failure(503, "SYS_002"), success({})]);
  const { error } = await settled(client.auth.refreshKey({ secretKey: "sk_test_1" }));
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(error).toMatchObject({ message: "The outcome is not known. The same call is safe to repeat." });
  await settled(client.auth.refreshKey({ secretKey: "sk_test_1" }));
  expect(asked[3]!.body).toEqual(asked[0]!.body);
});

test("reads and PATCHes are retried", async () => {
  const { client, asked } = clientOf([failure(503, "SYS_002")]);
  await settled(client.wallets.get("wal_1"));
  await settled(client.wallets.update("wal_1", { metadata: {} }));
  expect(asked).toHaveLength(6);
});

test("pauses double with jitter, and Retry-After is obeyed", async () => {
  const times: number[] = [];
  const busy = (asked: unknown, headers?: object) => {
    void asked;
    times.push(Date.now());
    return failure(503, "SYS_002", null, headers);
  };
  const random = jest.spyOn(Math, "random").mockReturnValue(0);
  await settled(clientOf([busy]).client.wallets.get("wal_1", { maxRetries: 6 }));
  expect(times).toEqual([0, 250, 750, 1_750, 3_750, 7_750, 11_750]);

  times.length = 0;
  random.mockReturnValue(1);
  const startedMs = Date.now();
  await settled(
    clientOf([(asked) => busy(asked, { "retry-after": "5" })]).client.wallets.get("wal_1", { maxRetries: 1 }),
  );
  expect(times.map((time) => time - startedMs)).toEqual([0, 5_500]);
  random.mockRestore();
});

test.each([
  [503, "SYS_002"],
  [429, "RATE_001"],
  [401, "WAUTH_002"],
])(
  "a money call that got no answer first and then %i %s is unknown, with its key and what came last",
  async (status, code) => {
    for (const first of [dropped(), silence, failure(504, "SYS_003"), failure(409, "REQ_002")]) {
      const { client } = clientOf([first, failure(status, code)]);
      const call = client.transfers.create(transfer, { idempotencyKey: "k1", maxRetries: 1 });
      const { error } = await settled(call);
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({
        code: "SYS_003",
        idempotencyKey: "k1",
        retryable: true,
        cause: { code },
      });
    }
  },
);

test("refusals before execution and failed reads keep their error", async () => {
  const [busy, refused] = [failure(503, "SYS_002"), failure(400, "TRF_001")];
  const create = (...answers: Answer[]) =>
    settled(clientOf(answers).client.transfers.create(transfer, { maxRetries: answers.length - 1 }));
  expect((await create(failure(429, "RATE_001"), busy)).error).toBeInstanceOf(UnavailableError);
  expect((await create(dropped(), refused)).error).toMatchObject({ code: "TRF_001" });
  const { client } = clientOf([dropped(), busy]);
  expect((await settled(client.wallets.get("wal_1", { maxRetries: 1 }))).error).toBeInstanceOf(
    UnavailableError,
  );
});

test("Retry-After may be a date, compared with the Date header or the local clock", async () => {
  for (const [retryAfterMs, retryHeaders] of [
    [10_000, {}],
    [-10_000, {}],
    [10_000, { date: "today" }],
  ] as const) {
    const at = new Date(Date.now() + retryAfterMs).toUTCString();
    const { client } = clientOf([failure(429, "RATE_001", null, { ...retryHeaders, "retry-after": at })]);
    const { error } = await settled(client.wallets.get("wal_1", { maxRetries: 0 }));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ retryAfterMs: Math.max(0, retryAfterMs), retryable: true });
  }
});

test.each([3_600_000, -3_600_000])(
  "a Retry-After that is a date is reckoned by the clock of who answers, also where ours differs by %p ms",
  async (aheadMs) => {
    const serverTime = (ms: number) => new Date(Date.now() + aheadMs + ms).toUTCString();
    const headers = { date: serverTime(0), "retry-after": serverTime(10_000) };
    const { client } = clientOf([failure(429, "RATE_001", null, headers)]);
    const { error } = await settled(client.wallets.get("wal_1", { maxRetries: 0 }));
    expect(error).toMatchObject({ retryAfterMs: 10_000 });
  },
);

test.each([
  ["60", 2],
  ["61", 1],
])(
  "a Retry-After of %s s: %p attempts, since one beyond a minute is left to the caller",
  async (text, times) => {
    const { client, asked } = clientOf([failure(429, "RATE_001", null, { "retry-after": text })]);
    const { error } = await settled(client.wallets.get("wal_1", { maxRetries: 1 }));
    expect(error).toMatchObject({ retryAfterMs: Number(text) * 1_000 });
    expect(asked).toHaveLength(times);
  },
);

test("each attempt has the timeout, and the error states it", async () => {
  const { client, asked } = clientOf([silence]);
  const { error } = await settled(client.wallets.get("wal_1", { timeoutMs: 1_000, maxRetries: 1 }));
  expect(error).toBeInstanceOf(ConnectionTimeoutError);
  expect(asked).toHaveLength(2);
  expect(jest.getTimerCount()).toBe(0);
});

test("a fetch that ignores its signal is abandoned at the timeout", async () => {
  const { client } = clientOf([() => new Promise<Response>(() => undefined)]);
  const { error } = await settled(client.wallets.get("wal_1", { maxRetries: 0 }));
  expect(error).toBeInstanceOf(ConnectionTimeoutError);
});

test("a signal ends an attempt and a pause, and nothing more is sent", async () => {
  const controller = new AbortController();
  const { client, asked } = clientOf([dropped()]);
  const call = settled(client.wallets.get("wal_1", { signal: controller.signal }));
  controller.abort("enough");
  expect((await call).error).toMatchObject({ code: "SDK_003", cause: "enough" });
  expect(asked.length).toBeLessThanOrEqual(1);
});

test.each<[string, Answer, number]>([
  ["before it is sent", success({}), 0],
  ["while it is under way", silence, 1],
  ["in the pause after an answer that was lost", dropped(), 1],
])("a money call that is aborted %s reports its idempotency key", async (_name, answer, sent) => {
  const controller = new AbortController();
  const { client, asked } = clientOf([answer]);
  if (sent === 0) controller.abort();
  const call = client.transfers
    .create(transfer, { signal: controller.signal })
    .then(undefined, (e: unknown) => e);
  await jest.advanceTimersByTimeAsync(10);
  controller.abort();
  const error = (await call) as AbortedError;
  expect(error).toBeInstanceOf(AbortedError);
  expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
  expect(asked).toHaveLength(sent);
  for (const { headers } of asked) expect(headers.get("idempotency-key")).toBe(error.idempotencyKey);
});

test("withResponse() gives the response, and its failure is handled once", async () => {
  const { client } = clientOf([
    success({ transferId: "trf_1" }, { status: 201, headers: { "idempotent-replayed": "true" } }),
  ]);
  const { data, status, requestId, headers, replayed, idempotencyKey } = await client.transfers
    .create(transfer, { idempotencyKey: "k" })
    .withResponse();
  expect({ data, status, requestId, replayed, idempotencyKey }).toEqual({
    data: { transferId: "trf_1" },
    status: 201,
    requestId: "req_1",
    replayed: true,
    idempotencyKey: "k",
  });
  expect(headers.get("content-type")).toBe("application/json");
  const refused = clientOf([failure(409, "WAL_001", { walletId: "wal_2" })]).client.wallets;
  await expect(refused.create({ userId: "u", walletType: "NORMAL" }).withResponse()).rejects.toBeInstanceOf(
    ConflictError,
  );
});

test("a refreshed key replaces the old one for later requests", async () => {
  const { client, asked } = clientOf([success({ newApiKey: "wk_test_new", expiresAt: "" }), success({})]);
  await client.auth.refreshKey({ secretKey: "sk_test_1" });
  await client.auth.getSession();
  expect(asked[0]!.headers.has("x-api-key")).toBe(false);
  expect(asked[0]!.body).toEqual({ apiKey: KEY, secretKey: "sk_test_1" });
  expect(asked[1]!.headers.get("x-api-key")).toBe("wk_test_new");
});

test("refreshing another key keeps the client's own", async () => {
  const { client, asked } = clientOf([success({ newApiKey: "wk_test_new", expiresAt: "" }), success({})]);
  await client.auth.refreshKey({ apiKey: "wk_test_other", secretKey: "sk_test_1" });
  await client.auth.getSession();
  expect(asked[1]!.headers.get("x-api-key")).toBe(KEY);
});

test("logs hold no body, query, header or key", async () => {
  const lines: string[] = [];
  const write = (message: string, fields: object) => lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { debug: write, info: write, warn: write };
  const { client } = clientOf([dropped(), success({ secret: "the answer" })], { logger, logLevel: "debug" });
  await settled(client.transfers.create({ ...transfer, memo: "the memo" }));
  await settled(client.wallets.list({ userId: "the user" }));
  expect(lines.join("\n")).toMatch(/retrying .*SDK_001.*\n.*answer .*"status":200/s);
  expect(lines.join("\n")).not.toMatch(/the memo|the answer|the user|the\+user|0123456789/);
});

test.each<[string, Answer[], string]>([
  ["got no answer", [dropped()], "SDK_001"],
  ["got the answers of a proxy", [page(504)], "SYS_003"],
  ["was lost and then turned away", [dropped(), failure(503, "SYS_002")], "SYS_003"],
])("a call that %s causes one warning at its end", async (_name, answers, code) => {
  const warned: unknown[] = [];
  const logger = { debug: () => {}, info: () => {}, warn: (...line: unknown[]) => warned.push(line) };
  await settled(clientOf(answers, { logger, maxRetries: 1 }).client.transfers.create(transfer));
  const path = "/api/wallets/transfer";
  const fields = { method: "POST", path, code, retries: 1, outcomeUnknown: true };
  expect(warned).toEqual([["wonrail: gave up", expect.objectContaining(fields)]]);
});

test("a logger that throws affects no request", async () => {
  const broken = () => {
    throw new Error("disk full");
  };
  const logger = { debug: broken, info: broken, warn: broken };
  const { client, asked } = clientOf([dropped(), success({ transferId: "trf_1" })], {
    logger,
    logLevel: "debug",
  });
  expect(await settled(client.transfers.create(transfer))).toEqual({ value: { transferId: "trf_1" } });
  expect(asked).toHaveLength(2);
  const lost = clientOf([dropped()], { logger, logLevel: "debug" }).client;
  expect((await settled(lost.transfers.create(transfer))).error).toMatchObject({ code: "SDK_001" });
});

test("inspecting a client shows no key", () => {
  const { client } = clientOf([success({})]);
  expect(inspect(client, { depth: 10, showHidden: true })).not.toContain("0123456789");
  expect(JSON.stringify(client)).not.toContain("0123456789");
});
