// The request id finds a call in both sides' logs when no answer came.
import { type Answer, failure, fakeFetch, silence, success } from "../../test/support/fakeFetch.ts";
import { ServiceClient } from "../client.ts";
import type { ClientOptions } from "../core/clientOptions.ts";

const transfer = { fromWalletId: "wal_1", toWalletAddress: `0x${"ab".repeat(20)}`, amount: 1000 };
const dropped = () => new TypeError("fetch failed");
const page = (status: number) => new Response("<html>", { status });

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

function clientOf(answers: Answer[], options: ClientOptions = {}) {
  const { fetch, asked } = fakeFetch(...answers);
  const client = new ServiceClient({ baseUrl: "https://service", apiKey: "wk_test_1", fetch, ...options });
  return { client, asked };
}

/** Settled, with all pauses passed. */
async function settled<T>(promise: PromiseLike<T>) {
  const outcome = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await jest.advanceTimersByTimeAsync(600_000);
  return outcome as Promise<{ value?: T; error?: Error }>;
}

test("each request has its own id, and its error names the id when no answer came", async () => {
  const { client, asked } = clientOf([dropped(), page(502), dropped(), success({})]);
  const { error } = await settled(client.transfers.create(transfer));
  await settled(client.transfers.create(transfer));
  const ids = asked.map(({ headers }) => headers.get("x-request-id"));
  expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(ids.slice(0, 3)).toEqual([ids[0], ids[0], ids[0]]);
  expect(ids[3]).not.toBe(ids[0]);
  expect(error).toMatchObject({ code: "SDK_001", requestId: ids[0] });

  const mine = { headers: { "x-request-id": "mine" }, maxRetries: 0 };
  for (const answer of [dropped(), silence, page(502), page(404)]) {
    const call = clientOf([answer]).client.transfers.create(transfer, mine);
    expect((await settled(call)).error).toMatchObject({ requestId: "mine" });
  }
  const controller = new AbortController();
  const aborted = settled(
    clientOf([silence]).client.wallets.get("wal_1", { ...mine, signal: controller.signal }),
  );
  controller.abort();
  expect((await aborted).error).toMatchObject({ code: "SDK_003", requestId: "mine" });
  expect(
    (await settled(clientOf([failure(400, "TRF_001")]).client.transfers.create(transfer, mine))).error,
  ).toMatchObject({ requestId: "req_1" });
});

test("a warning names cause and request, without messages that may hold the query", async () => {
  const warned: unknown[] = [];
  const logger = { debug: () => {}, info: () => {}, warn: (...line: unknown[]) => warned.push(line) };
  const reset = Object.assign(new Error("GET /api/wallets?userId=the+user"), { code: "ECONNRESET" });
  const failed = new TypeError("fetch failed", { cause: reset });
  const { client, asked } = clientOf([failed], { logger, maxRetries: 0 });
  await settled(client.wallets.list({ userId: "the user" }));
  const requestId = asked[0]!.headers.get("x-request-id");
  const fields = { cause: "TypeError < Error ECONNRESET", requestId };
  expect(warned).toEqual([["wonrail: gave up", expect.objectContaining(fields)]]);
  expect(JSON.stringify(warned)).not.toContain("the+user");
});
